import AttachPrep
public import FoundationEssentials
import SafeArithmetic

/// Identifier of a job: a lowercase UUID of version 7, which sorts by creation time (RFC 9562, section 5.7).
public struct JobID: Sendable, Hashable, Comparable, CustomStringConvertible {
    public let text: String

    /// Parses a UUID in either case; nil for any other text.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.text = uuid.uuidString.lowercased()
    }

    /// Generates an identifier: milliseconds since 1970, then 74 random bits.
    public static func make(at date: Date = .now) -> JobID {
        let milliseconds = UInt64(clamping: max(0, date.timeIntervalSince1970 * 1000))
        var generator = SystemRandomNumberGenerator()
        let (high, low) = (generator.next(), generator.next())
        let first = (milliseconds << 16) | 0x7000 | (high & 0x0FFF)
        let second = (low & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
        return JobID(known: text(of: first.bigEndianBytes + second.bigEndianBytes))
    }

    private init(known text: String) {
        self.text = text
    }

    private static func text(of bytes: [UInt8]) -> String {
        let groups = [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
        return groups.map(\.hexadecimal).joined(separator: "-")
    }

    public var description: String { text }

    public static func < (left: JobID, right: JobID) -> Bool { left.text < right.text }
}

extension JobID: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let id = JobID(try value.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a UUID")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(text)
    }
}

extension UInt64 {
    /// The eight bytes, most significant first.
    var bigEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - $0 * 8)) } }
}
