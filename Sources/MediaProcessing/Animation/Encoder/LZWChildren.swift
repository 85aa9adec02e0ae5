/// The children of all nodes by their parent and last index: a table with four places for each, searched from where a
/// pair belongs to the next free one.
struct LZWChildren {
    private static let placeBits = 14

    /// Parent, index and child, of 12, 8 and 12 bits; a child is never 0.
    private let table = NumberRow<UInt32>(repeating: 0, count: 1 << placeBits)

    func clear() { table.fill(with: 0) }

    /// `LZWTrie.none` for none.
    @inline(__always) func child(of parent: Int, _ index: UInt8) -> Int {
        let wanted = Self.pair(parent, index)
        var place = Self.place(wanted)
        while true {
            let entry = table[place]
            if entry == 0 { return LZWTrie.none }
            if entry >> 12 == wanted { return Int(entry & 0xFFF) }
            place = (place &+ 1) & (1 << Self.placeBits &- 1)
        }
    }

    func add(_ child: Int, to parent: Int, _ index: UInt8) {
        let pair = Self.pair(parent, index)
        var place = Self.place(pair)
        while table[place] != 0 { place = (place &+ 1) & (1 << Self.placeBits &- 1) }
        table[place] = pair << 12 | UInt32(child)
    }

    @inline(__always) private static func pair(_ parent: Int, _ index: UInt8) -> UInt32 {
        UInt32(truncatingIfNeeded: parent) << 8 | UInt32(index)
    }

    /// Fibonacci hashing: Knuth, "The Art of Computer Programming", 6.4.
    @inline(__always) private static func place(_ pair: UInt32) -> Int {
        Int((pair &* 0x9E37_79B1) >> UInt32(32 - placeBits))
    }
}
