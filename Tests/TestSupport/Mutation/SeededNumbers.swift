/// Numbers that look random and are the same for the same seed: SplitMix64.
public struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(_ seed: UInt64, _ index: Int = 0) {
        state = seed &+ UInt64(truncatingIfNeeded: index) &* 0xD1B5_4A32_D192_ED03
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// From 0 to below `end`; 0 when there is none.
    public mutating func below(_ end: Int) -> Int { end <= 0 ? 0 : Int.random(in: 0..<end, using: &self) }

    /// True once in so many times.
    public mutating func once(in times: Int) -> Bool { below(times) == 0 }

    public mutating func one<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }
}
