/// Reads bits of a scan, most significant first, and the coefficients coded in them.
///
/// Reads eight bytes at a time, so that many must be readable after the last byte.
@safe struct BitReader {
    private let base: UnsafeRawPointer
    private var next: UnsafeRawPointer
    /// The next bits, left-aligned.
    private var bits: UInt64 = 0
    /// How many of them are loaded.
    private var count: UInt64 = 0

    // Bounded throughout: a code has at most 16 bits and its magnitude 15, and 56 are loaded whenever a symbol is read,
    // so `count` never falls below zero; a symbol has eight bits, and `index` is checked before it leaves the block.

    init(_ base: UnsafeRawPointer) {
        unsafe self.base = unsafe base
        unsafe next = unsafe base
    }

    /// Bits that were consumed.
    var usedBits: Int { unsafe (next - base) * 8 - Int(count) }

    /// Loads at least 56 bits.
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

    /// The next symbol; nil for an invalid code.
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

    /// A magnitude of `size` bits. T.81, F.2.2.1.
    @inline(__always)
    private mutating func magnitude(_ size: Int) -> Int32 {
        if size == 0 { return 0 }
        let number = Int32(truncatingIfNeeded: bits &>> (64 &- UInt64(size)))
        consume(UInt64(size))
        let isNegative = number &>> Int32(size &- 1) == 0
        return isNegative ? number &- (1 &<< Int32(size)) &+ 1 : number
    }

    /// The difference between this block's DC coefficient and the previous one's; nil for an invalid code.
    @inline(__always)
    mutating func coefficient(_ table: HuffmanTable) -> Int32? {
        refill()
        guard let size = symbol(table), size <= 11 else { return nil }
        return magnitude(size)
    }

    /// The three lowest AC coefficients (horizontal, vertical, diagonal), dequantized.
    ///
    /// - Returns: The index of the next coefficient, 64 at the end of the block; nil for an invalid code.
    @inline(__always)
    mutating func lowCoefficients(
        _ table: HuffmanTable, quantizers: UnsafePointer<Int32>,
        low: inout (right: Int32, below: Int32, both: Int32)
    ) -> Int? {
        var index = 1
        while index <= 4 {
            refill()
            guard let symbol = symbol(table) else { return nil }
            let size = symbol & 15
            if size == 0 {
                if symbol != 0xF0 { return 64 }
                index += 16
                continue
            }
            index += symbol >> 4
            guard index <= 63 else { return nil }
            let value = unsafe magnitude(size) &* quantizers[index]
            switch index {
            case 1: low.right = value
            case 2: low.below = value
            case 4: low.both = value
            default: break
            }
            index += 1
        }
        return index
    }

    /// Skips the remaining coefficients of a block; false for an invalid code, or one that leads past the end of the
    /// block.
    @inline(__always)
    mutating func skipCoefficients(from first: Int, _ table: HuffmanTable) -> Bool {
        // Local copies: each iteration depends on the one before, and stores to memory would slow the chain.
        var (index, bits, count) = (first, bits, count)
        var next = unsafe next
        let steps = unsafe table.steps
        while true {
            bits |= unsafe next.loadUnaligned(as: UInt64.self).bigEndian &>> count
            unsafe next += Int(truncatingIfNeeded: (63 &- count) &>> 3)
            count |= 56
            let entry = unsafe steps[Int(truncatingIfNeeded: bits &>> HuffmanTable.shift)]
            let step = HuffmanTable.Step(entry: entry)
            let end = index &+ step.advance
            if end < 64, entry != 0 {
                bits = bits &<< step.bits
                count &-= step.bits
                index = end
                continue
            }
            (self.bits, self.count) = (bits, count)
            unsafe self.next = unsafe next
            if entry != 0 { return finishBlock(step, at: index) }
            guard let advance = skipLong(table) else { return false }
            index &+= advance
            if index >= 64 { return index == 64 || advance == HuffmanTable.Step.end }
            (bits, count) = (self.bits, self.count)
        }
    }

    /// Handles a step that reaches the end of a block; its second symbol may belong to the next block.
    @inline(__always)
    private mutating func finishBlock(_ step: HuffmanTable.Step, at index: Int) -> Bool {
        let firstEnd = index &+ step.firstAdvance
        let isFirst = firstEnd >= 64
        consume(isFirst ? step.firstBits : step.bits)
        let (end, advance) = isFirst ? (firstEnd, step.firstAdvance) : (index &+ step.advance, step.advance)
        return end == 64 || advance >= HuffmanTable.Step.end
    }

    /// Skips one coefficient whose code is longer than the lookup table covers; returns how many coefficients it
    /// advances.
    private mutating func skipLong(_ table: HuffmanTable) -> Int? {
        guard let symbol = symbol(table) else { return nil }
        let size = symbol & 15
        if size == 0 { return symbol == 0xF0 ? 16 : HuffmanTable.Step.end }
        consume(UInt64(size))
        return symbol >> 4 + 1
    }
}

/// A Huffman code of a JPEG, laid out for table lookup by the next bits.
///
/// Source: ITU-T T.81, annex C (codes from lengths) and F.2.2 (decoding).
///
/// Owns raw tables, because bounds checks on each read would be measurable.
// Sendable because the tables are written only by the initializer.
@safe final class HuffmanTable: @unchecked Sendable {
    /// Number of bits that are looked up at once; nearly all codes are shorter.
    static let bits = 12
    /// Right shift that leaves the upper `bits` of 64.
    static let shift: UInt64 = 52
    private static let codeBitsMax = 16

    /// By the next bits: the symbol and, above it, the length of its code; 0 where the code is longer.
    let symbols: UnsafePointer<UInt16>
    /// By the next bits: how far one or two coefficients advance, as `Step` reads it; 0 where the code is longer.
    let steps: UnsafePointer<UInt32>
    /// For codes longer than the lookup table covers, by their length: the first code, and the index of its symbol.
    private let firstCode: [Int]
    private let lastCode: [Int]
    private let firstPosition: [Int]
    private let values: [UInt8]

    /// How far skipped coefficients advance.
    struct Step {
        let entry: UInt32

        /// Bits of all symbols in the entry, including the magnitudes that follow their codes.
        var bits: UInt64 { UInt64(truncatingIfNeeded: entry & 0xFF) }
        /// Coefficients of all symbols in the entry.
        var advance: Int { Int(truncatingIfNeeded: entry &>> 8 & 0xFF) }
        /// The same for the first symbol alone.
        var firstBits: UInt64 { UInt64(truncatingIfNeeded: entry &>> 16 & 0xFF) }
        var firstAdvance: Int { Int(truncatingIfNeeded: entry &>> 24) }

        /// The advance of an end-of-block symbol: more than a block holds.
        static let end = 128
    }

    // Bounded throughout: a code has at most 16 bits and stays below `1 << length`, counts and symbols have eight, and
    // there are as many values as the counts add up to.

    /// Nil for lengths that form no valid code, or that use the code of all ones, which T.81, C.2 reserves: libjpeg
    /// rejects both.
    ///
    /// - Parameters:
    ///   - counts: Codes of each length from 1 to 16.
    ///   - values: Their symbols, shortest code first.
    init?(counts: [UInt8], values: [UInt8]) {
        guard counts.count == Self.codeBitsMax, counts.reduce(0, { $0 + Int($1) }) == values.count else { return nil }
        var (symbols, code, position) = ([UInt16](repeating: 0, count: 1 << Self.bits), 0, 0)
        var (first, last, positions) = ([0], [-1], [0])
        for length in 1...Self.codeBitsMax {
            let count = Int(counts[length - 1])
            guard code + count < 1 << length else { return nil }
            first.append(code)
            last.append(code + count - 1)
            positions.append(position)
            if length <= Self.bits {
                let spread = 1 << (Self.bits - length)
                for index in 0..<count {
                    let entry = UInt16(length) << 8 | UInt16(values[position + index])
                    let start = (code + index) * spread
                    symbols.replaceSubrange(start..<(start + spread), with: repeatElement(entry, count: spread))
                }
            }
            (code, position) = ((code + count) << 1, position + count)
        }
        self.values = values
        (firstCode, lastCode, firstPosition) = (first, last, positions)
        unsafe self.symbols = unsafe Self.owned(symbols)
        unsafe steps = unsafe Self.owned(Self.steps(symbols))
    }

    deinit {
        unsafe symbols.deallocate()
        unsafe steps.deallocate()
    }

    private static func owned<Entry>(_ entries: [Entry]) -> UnsafePointer<Entry> {
        let copy = UnsafeMutablePointer<Entry>.allocate(capacity: entries.count)
        unsafe copy.initialize(from: entries, count: entries.count)
        return unsafe UnsafePointer(copy)
    }

    /// The symbol of a code longer than the lookup table covers; nil for an invalid code.
    ///
    /// - Parameter next: The next 16 bits.
    func longSymbol(_ next: Int) -> (symbol: UInt8, bits: Int)? {
        for length in (Self.bits + 1)...Self.codeBitsMax {
            let code = next >> (Self.codeBitsMax - length)
            if code <= lastCode[length], code >= firstCode[length] {
                return (values[firstPosition[length] + code - firstCode[length]], length)
            }
        }
        return nil
    }

    /// Reads symbols as those of AC coefficients: a run of zeros in the upper four bits, the magnitude's size in the
    /// lower.
    private static func steps(_ symbols: [UInt16]) -> [UInt32] {
        symbols.indices.map { index in
            guard let first = step(symbols[index]) else { return 0 }
            let alone = UInt32(first.bits) << 16 | UInt32(first.advance) << 24
            let left = bits - first.bits
            guard first.advance < Step.end, left > 0,
                // The second code must lie within the bits that are known.
                let second = step(symbols[index << first.bits & (1 << bits - 1)]), second.codeBits <= left
            else { return alone | UInt32(first.bits) | UInt32(first.advance) << 8 }
            return alone | UInt32(first.bits + second.bits) | UInt32(first.advance + second.advance) << 8
        }
    }

    private static func step(_ entry: UInt16) -> (bits: Int, advance: Int, codeBits: Int)? {
        if entry == 0 { return nil }
        let (length, run, size) = (Int(entry >> 8), Int(entry >> 4 & 0xF), Int(entry & 0xF))
        if size == 0 {
            // Sixteen zeros, or the end of the block.
            return (length, run == 15 ? 16 : Step.end, length)
        }
        return (length + size, run + 1, length)
    }
}
