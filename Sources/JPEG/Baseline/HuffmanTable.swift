/// A Huffman code of a JPEG, laid out for looking up the next bits at once.
///
/// Source: ITU-T T.81, annex C (codes from lengths) and F.2.2 (decoding).
///
/// Owns its tables, which are read where every check would be felt.
@safe final class HuffmanTable: @unchecked Sendable {
    /// Bits that are looked up at once; nearly all codes are shorter.
    static let bits = 12
    /// What brings the upper bits of 64 down to them.
    static let shift: UInt64 = 52
    private static let codeBitsMax = 16

    /// By the next bits: the symbol and, above it, the length of its code; 0 where the code is longer.
    let symbols: UnsafePointer<UInt16>
    /// By the next bits: how far one or two coefficients lead, as `Step` reads it; 0 where the code is longer.
    let steps: UnsafePointer<UInt32>
    /// For codes longer than what is looked up, by their length: the first code, and where its symbol stands.
    private let firstCode: [Int]
    private let lastCode: [Int]
    private let firstPlace: [Int]
    private let values: [UInt8]

    /// How far coefficients lead that are not looked at.
    struct Step {
        let entry: UInt32

        /// Bits of all symbols in it, the magnitudes behind their codes included.
        var bits: UInt64 { UInt64(truncatingIfNeeded: entry & 0xFF) }
        /// Coefficients of all of them.
        var advance: Int { Int(truncatingIfNeeded: entry &>> 8 & 0xFF) }
        /// The same of the first symbol alone.
        var firstBits: UInt64 { UInt64(truncatingIfNeeded: entry &>> 16 & 0xFF) }
        var firstAdvance: Int { Int(truncatingIfNeeded: entry &>> 24) }

        /// What the end of a block counts: more than a block holds.
        static let end = 128
    }

    // Bounded throughout: a code has at most 16 bits and stays below `1 << length`, counts and symbols have eight, and
    // there are as many values as the counts add up to.

    /// Nil for lengths that make no code, or one of ones alone, which T.81, C.2 reserves: libjpeg takes neither.
    ///
    /// - Parameters:
    ///   - counts: Codes of each length from 1 to 16.
    ///   - values: Their symbols, shortest code first.
    init?(counts: [UInt8], values: [UInt8]) {
        guard counts.count == Self.codeBitsMax, counts.reduce(0, { $0 + Int($1) }) == values.count else { return nil }
        var (symbols, code, place) = ([UInt16](repeating: 0, count: 1 << Self.bits), 0, 0)
        var (first, last, places) = ([0], [-1], [0])
        for length in 1...Self.codeBitsMax {
            let count = Int(counts[length - 1])
            guard code + count < 1 << length else { return nil }
            first.append(code)
            last.append(code + count - 1)
            places.append(place)
            if length <= Self.bits {
                let spread = 1 << (Self.bits - length)
                for index in 0..<count {
                    let entry = UInt16(length) << 8 | UInt16(values[place + index])
                    let start = (code + index) * spread
                    symbols.replaceSubrange(start..<(start + spread), with: repeatElement(entry, count: spread))
                }
            }
            (code, place) = ((code + count) << 1, place + count)
        }
        self.values = values
        (firstCode, lastCode, firstPlace) = (first, last, places)
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

    /// The symbol of a code that is longer than what is looked up; nil for bits that are no code.
    ///
    /// - Parameter next: The next 16 bits.
    func longSymbol(_ next: Int) -> (symbol: UInt8, bits: Int)? {
        for length in (Self.bits + 1)...Self.codeBitsMax {
            let code = next >> (Self.codeBitsMax - length)
            if code <= lastCode[length], code >= firstCode[length] {
                return (values[firstPlace[length] + code - firstCode[length]], length)
            }
        }
        return nil
    }

    /// Reads symbols as those of coefficients: a run of zeros in the upper half, bits of the magnitude in the lower.
    private static func steps(_ symbols: [UInt16]) -> [UInt32] {
        symbols.indices.map { index in
            guard let first = step(symbols[index]) else { return 0 }
            let alone = UInt32(first.bits) << 16 | UInt32(first.advance) << 24
            let left = bits - first.bits
            guard first.advance < Step.end, left > 0,
                // The second code has to lie in the bits that are known.
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
