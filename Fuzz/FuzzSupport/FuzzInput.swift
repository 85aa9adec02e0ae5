/// Reads the bytes of one input from the front.
public struct FuzzInput {
    public private(set) var bytes: ArraySlice<UInt8>

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// The next byte; 0 at the end.
    public mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    /// A number in a range, from two bytes.
    public mutating func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + (Int(byte()) << 8 | Int(byte())) % (range.upperBound - range.lowerBound + 1)
    }

    /// All remaining bytes.
    public mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }

    /// All remaining bytes as text.
    public mutating func text() -> String { String(decoding: rest(), as: UTF8.self) }

    /// The remaining lines, separated by line feeds.
    public mutating func lines() -> [String] {
        rest().split(separator: 0x0A, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }
}
