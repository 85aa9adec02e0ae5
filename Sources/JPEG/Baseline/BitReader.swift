/// The bits of a scan, first bit first, and the coefficients coded in them.
///
/// Reads eight bytes at a time, so that many must be there behind the last one.
@safe struct BitReader {
    private let base: UnsafeRawPointer
    private var next: UnsafeRawPointer
    /// The next bits, at the upper end.
    private var bits: UInt64 = 0
    /// How many of them are known.
    private var count: UInt64 = 0

    // Bounded throughout: a code has at most 16 bits and its magnitude 15, and 56 are known whenever a symbol is read,
    // so `count` never falls below zero; a symbol has eight bits, and `place` is looked at before it leaves the block.

    init(_ base: UnsafeRawPointer) {
        unsafe self.base = unsafe base
        unsafe next = unsafe base
    }

    /// Bits that were consumed.
    var usedBits: Int { unsafe (next - base) * 8 - Int(count) }

    /// Makes at least 56 bits known.
    @inline(__always)
    mutating func refill() {
        bits |= unsafe next.loadUnaligned(as: UInt64.self).bigEndian &>> count
        unsafe next += Int(truncatingIfNeeded: (63 &- count) &>> 3)
        count |= 56
    }

    @inline(__always)
    mutating func consume(_ length: UInt64) {
        bits = bits &<< length
        count &-= length
    }

    /// The next symbol; nil for bits that are no code.
    @inline(__always)
    private mutating func symbol(_ table: HuffmanTable) -> Int? {
        let entry = unsafe table.symbols[Int(truncatingIfNeeded: bits &>> HuffmanTable.shift)]
        if entry != 0 {
            consume(UInt64(entry >> 8))
            return Int(entry & 0xFF)
        }
        guard let long = table.longSymbol(Int(bits >> 48)) else { return nil }
        consume(UInt64(long.bits))
        return Int(long.symbol)
    }

    /// A magnitude of so many bits. T.81, F.2.2.1.
    @inline(__always)
    private mutating func magnitude(_ size: Int) -> Int32 {
        if size == 0 { return 0 }
        let number = Int32(truncatingIfNeeded: bits &>> (64 &- UInt64(size)))
        consume(UInt64(size))
        let isNegative = number &>> Int32(size &- 1) == 0
        return isNegative ? number &- (1 &<< Int32(size)) &+ 1 : number
    }

    /// The difference of a block's first coefficient to the last block's; nil for what is no code.
    @inline(__always)
    mutating func coefficient(_ table: HuffmanTable) -> Int32? {
        refill()
        guard let size = symbol(table), size <= 11 else { return nil }
        return magnitude(size)
    }

    /// The lowest coefficients to the right and below, multiplied.
    ///
    /// - Returns: The coefficient to go on with, 64 at the end of the block; nil for what is no code.
    @inline(__always)
    mutating func lowCoefficients(
        _ table: HuffmanTable, quantizers: UnsafePointer<Int32>,
        _ low: inout (right: Int32, below: Int32, both: Int32)
    ) -> Int? {
        var place = 1
        while place <= 4 {
            refill()
            guard let symbol = symbol(table) else { return nil }
            let size = symbol & 15
            if size == 0 {
                if symbol != 0xF0 { return 64 }
                place += 16
                continue
            }
            place += symbol >> 4
            guard place <= 63 else { return nil }
            let value = unsafe magnitude(size) &* quantizers[place]
            switch place {
            case 1: low.right = value
            case 2: low.below = value
            case 4: low.both = value
            default: break
            }
            place += 1
        }
        return place
    }

    /// Passes over what is left of a block; false for what is no code, or leads past its end.
    @inline(__always)
    mutating func skipCoefficients(from first: Int, _ table: HuffmanTable) -> Bool {
        // In places of their own: the loop is a chain of these few, each waiting for the one before.
        var (place, bits, count) = (first, bits, count)
        var next = unsafe next
        let steps = unsafe table.steps
        while true {
            bits |= unsafe next.loadUnaligned(as: UInt64.self).bigEndian &>> count
            unsafe next += Int(truncatingIfNeeded: (63 &- count) &>> 3)
            count |= 56
            let entry = unsafe steps[Int(truncatingIfNeeded: bits &>> HuffmanTable.shift)]
            let step = HuffmanTable.Step(entry: entry)
            let end = place &+ step.advance
            if end < 64, entry != 0 {
                bits = bits &<< step.bits
                count &-= step.bits
                place = end
                continue
            }
            (self.bits, self.count) = (bits, count)
            unsafe self.next = unsafe next
            if entry != 0 { return finishBlock(step, at: place) }
            guard let advance = skipLong(table) else { return false }
            place &+= advance
            if place >= 64 { return place == 64 || advance == HuffmanTable.Step.end }
            (bits, count) = (self.bits, self.count)
        }
    }

    /// A step that leads to the end of a block, whose second symbol may belong to the next one.
    @inline(__always)
    private mutating func finishBlock(_ step: HuffmanTable.Step, at place: Int) -> Bool {
        let firstEnd = place &+ step.firstAdvance
        let isFirst = firstEnd >= 64
        consume(isFirst ? step.firstBits : step.bits)
        let (end, advance) = isFirst ? (firstEnd, step.firstAdvance) : (place &+ step.advance, step.advance)
        return end == 64 || advance >= HuffmanTable.Step.end
    }

    /// One coefficient whose code is a long one; how far it leads.
    private mutating func skipLong(_ table: HuffmanTable) -> Int? {
        guard let symbol = symbol(table) else { return nil }
        let size = symbol & 15
        if size == 0 { return symbol == 0xF0 ? 16 : HuffmanTable.Step.end }
        consume(UInt64(size))
        return symbol >> 4 + 1
    }
}
