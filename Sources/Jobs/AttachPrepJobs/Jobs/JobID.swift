import AttachPrep
public import FoundationEssentials
import SafeArithmetic
import Synchronization

/// Identifier of a job: a lowercase UUID of version 7, which sorts by creation time (RFC 9562, section 5.7).
public struct JobID: Sendable, Hashable, Comparable, CustomStringConvertible {
    public let text: String

    /// Parses a UUID in either case; nil for any other text.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.text = uuid.uuidString.lowercased()
    }

    /// Generates an identifier: milliseconds since 1970, then 74 random bits.
    ///
    /// Those that a process makes within one millisecond ascend, so that jobs run in the order in which they came: the
    /// random bits are increased by a random number (RFC 9562, section 6.2, method 2).
    public static func make(at date: Date = .now) -> JobID {
        let milliseconds = UInt64(clamping: max(0, date.timeIntervalSince1970 * 1000)) & 0xFFFF_FFFF_FFFF
        let (high, low) = last.withLock { last in
            var generator = SystemRandomNumberGenerator()
            if last.milliseconds == milliseconds {
                let (sum, isOver) = last.low.addingReportingOverflow(generator.next() >> 32 | 1)
                last.low = sum
                if isOver { last.high &+= 1 }
            } else {
                last = (milliseconds, generator.next(), generator.next())
            }
            return (last.high, last.low)
        }
        let first = (milliseconds << 16) | 0x7000 | (high & 0x0FFF)
        let second = (low >> 2) | 0x8000_0000_0000_0000
        return JobID(known: text(of: first.bigEndianBytes + second.bigEndianBytes))
    }

    private static let last = Mutex((milliseconds: UInt64(0), high: UInt64(0), low: UInt64(0)))

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
