/// The name of a payload that was written: 64 random bits.
public struct DispatchID: Sendable, Hashable {
    let bits: UInt64

    public static func make() -> DispatchID {
        var generator = SystemRandomNumberGenerator()
        return DispatchID(bits: generator.next())
    }

    /// As the database has it.
    var number: Int64 { Int64(bitPattern: bits) }

    /// Most significant first.
    // Bounded: shifts and masks of bytes, whose counts are below 64.
    var bytes: [UInt8] { stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) } }

    init(bits: UInt64) {
        self.bits = bits
    }

    /// Eight bytes, most significant first.
    init(bytes: some Sequence<UInt8>) {
        // Bounded: shifts and masks of bytes, whose counts are below 64.
        bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
