/// The bytes of one input, taken from the front.
public struct FuzzInput {
    public private(set) var bytes: ArraySlice<UInt8>

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// The next byte; 0 once there is none.
    public mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    /// A number from a range.
    public mutating func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + (Int(byte()) << 8 | Int(byte())) % (range.upperBound - range.lowerBound + 1)
    }

    /// All that is left.
    public mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }

    /// All that is left, as text.
    public mutating func text() -> String { String(decoding: rest(), as: UTF8.self) }

    /// The parts of what is left between line feeds.
    public mutating func lines() -> [String] {
        rest().split(separator: 0x0A, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }
}
