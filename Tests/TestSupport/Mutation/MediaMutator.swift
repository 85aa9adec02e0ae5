/// Mutates files to find bugs in their readers; the same seed and index give the same mutation.
public struct MediaMutator: Sendable {
    /// The files to mutate: name and bytes.
    public let seeds: [(name: String, bytes: [UInt8])]
    /// The seed of the whole run.
    public let seed: UInt64

    /// Larger results are truncated, so that a run covers many files.
    private static let bytesMax = 2_000_000

    public init(seeds: [(name: String, bytes: [UInt8])], seed: UInt64) {
        self.seeds = seeds
        self.seed = seed
    }

    /// The file at an index: a seed file with one to three mutations.
    public func file(_ index: Int) -> (name: String, bytes: [UInt8]) {
        var numbers = SeededGenerator(seed, index)
        // Round-robin, so that a short run covers every format.
        let (name, original) = seeds[index % seeds.count]
        var bytes = original
        for _ in 0...numbers.below(3) { mutate(&bytes, &numbers) }
        if !numbers.once(in: 4) { MediaChecksums.repair(&bytes) }
        return (name, Array(bytes.prefix(Self.bytesMax)))
    }

    /// Leading bytes that are kept, so that the format is still recognized.
    private static let signatureBytes = 16

    /// The file at an index with a small mutation, so that its format is recognized and most of it is intact.
    public func slightlyBrokenFile(_ index: Int) -> (name: String, bytes: [UInt8]) {
        var numbers = SeededGenerator(seed, index)
        let (name, original) = seeds[index % seeds.count]
        let head = original.prefix(Self.signatureBytes)
        var rest = Array(original.dropFirst(Self.signatureBytes))
        for _ in 0...numbers.below(2) where !rest.isEmpty {
            // In the headers as often as in the image data.
            let range = 0..<(numbers.once(in: 2) ? min(rest.count, 800) : rest.count)
            switch numbers.below(8) {
            case 0, 1, 2: rest[numbers.below(range.count)] ^= 1 << numbers.below(8)
            case 3: flipBits(in: range, &rest, &numbers)
            case 4: rest.removeLast(numbers.below(rest.count / 5))
            case 5: setNumber(in: range, &rest, &numbers)
            case 6:
                let start = numbers.below(rest.count)
                rest.removeSubrange(start..<min(rest.count, start + 1 + numbers.below(200)))
            default: copyBlock(&rest, &numbers)
            }
        }
        var bytes = Array(head) + rest
        if numbers.once(in: 2) { MediaChecksums.repair(&bytes) }
        return (name, Array(bytes.prefix(Self.bytesMax)))
    }

    private func mutate(_ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let chunks = numbers.once(in: 3) ? [] : MediaChunk.all(of: bytes)
        if let chunk = numbers.one(of: chunks) { return mutate(chunk, &bytes, &numbers) }
        switch numbers.below(8) {
        case 0, 1: flipBits(in: 0..<bytes.count, &bytes, &numbers)
        case 2: flipBits(in: 0..<min(bytes.count, 256), &bytes, &numbers)
        case 3: bytes.removeLast(numbers.below(bytes.count))
        case 4: copyBlock(&bytes, &numbers)
        case 5: splice(&bytes, &numbers)
        case 6: setNumber(in: 0..<min(bytes.count, 4_096), &bytes, &numbers)
        default: removeBlock(&bytes, &numbers)
        }
    }

    private func mutate(_ chunk: MediaChunk, _ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
        switch numbers.below(8) {
        case 0, 1: setLength(of: chunk, &bytes, &numbers)
        case 2: setNumber(in: chunk.content, &bytes, &numbers)
        // The head of a chunk holds its counts and versions.
        case 3:
            let head = chunk.content.lowerBound..<min(chunk.content.upperBound, chunk.content.lowerBound + 48)
            setNumber(in: head, &bytes, &numbers)
        case 4: flipBits(in: chunk.content, &bytes, &numbers)
        case 5: bytes.removeSubrange(chunk.range)
        case 6:
            let copy = Array(bytes[chunk.range])
            let times = numbers.once(in: 4) ? min(200, Self.bytesMax / max(1, copy.count)) : 1
            bytes.insert(contentsOf: repeatElement(copy, count: times).joined(), at: chunk.range.upperBound)
        default:
            // A chunk nested in itself.
            let copy = Array(bytes[chunk.range])
            bytes.insert(contentsOf: copy, at: chunk.content.lowerBound)
        }
    }

    private func flipBits(in range: Range<Int>, _ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
        guard !range.isEmpty else { return }
        for _ in 0...numbers.below(16) { bytes[range.lowerBound + numbers.below(range.count)] ^= 1 << numbers.below(8) }
    }

    private static let numbersOfInterest: [UInt64] = [
        0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0xFF_FFFF, 0x7FFF_FFFF, 0x8000_0000,
        0xFFFF_FFFE, 0xFFFF_FFFF, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, .max, .max - 7,
    ]

    private func setNumber(in range: Range<Int>, _ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
        guard !range.isEmpty else { return }
        let width = min(range.count, 1 << numbers.below(4))
        let start = range.lowerBound + numbers.below(range.count - width + 1)
        put(numbers.one(of: Self.numbersOfInterest) ?? 0, at: start..<start + width, numbers.once(in: 2), &bytes)
    }

    private func setLength(of chunk: MediaChunk, _ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
        let old = UInt64(truncatingIfNeeded: chunk.range.count)
        let near = [old &+ 1, old &- 1, old / 2, old &* 2, old &- 8, old &+ 8, UInt64(bytes.count)]
        let value = numbers.one(of: numbers.once(in: 2) ? near : Self.numbersOfInterest) ?? 0
        put(value, at: chunk.length, chunk.isLittleEndian, &bytes)
    }

    private func put(_ value: UInt64, at range: Range<Int>, _ littleEndian: Bool, _ bytes: inout [UInt8]) {
        for (byte, offset) in range.enumerated() {
            let shift = 8 * (littleEndian ? byte : range.count - 1 - byte)
            bytes[offset] = UInt8(truncatingIfNeeded: value >> UInt64(shift))
        }
    }

    private func block(_ bytes: [UInt8], _ numbers: inout SeededGenerator) -> Range<Int> {
        let start = numbers.below(bytes.count)
        return start..<start + numbers.below(min(4_096, bytes.count - start)) + 1
    }

    private func copyBlock(_ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
        let copy = Array(bytes[block(bytes, &numbers)])
        let offset = numbers.below(bytes.count)
        if numbers.once(in: 2) {
            bytes.insert(contentsOf: copy, at: offset)
        } else {
            bytes.replaceSubrange(offset..<min(offset + copy.count, bytes.count), with: copy)
        }
    }

    private func removeBlock(_ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
        guard bytes.count > 1 else { return }
        bytes.removeSubrange(block(bytes, &numbers))
    }

    /// The beginning of this file and the end of another one.
    private func splice(_ bytes: inout [UInt8], _ numbers: inout SeededGenerator) {
        guard let other = numbers.one(of: seeds)?.bytes, !other.isEmpty else { return }
        bytes = bytes.prefix(numbers.below(bytes.count) + 1) + other.suffix(numbers.below(other.count) + 1)
    }
}

/// A pseudorandom number generator with a seed: SplitMix64.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
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

    /// A number from 0 to below `end`; 0 when the range is empty.
    public mutating func below(_ end: Int) -> Int { end <= 0 ? 0 : Int.random(in: 0..<end, using: &self) }

    /// True with a probability of 1 / `times`.
    public mutating func once(in times: Int) -> Bool { below(times) == 0 }

    public mutating func one<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }
}
