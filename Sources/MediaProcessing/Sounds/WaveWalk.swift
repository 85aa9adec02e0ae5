import RichPush

/// The chunks of a WAV (RIFF, RIFX, RF64): that the file holds the samples it declares.
///
/// Source: Microsoft and IBM, "Multimedia Programming Interface and Data Specifications 1.0"; EBU Tech 3306 (RF64).
// Bounded throughout: places in the file, and sizes of 32 bits; the large one is compared with what is left of the file
// before it is added.
package struct WaveWalk: Sendable, Hashable {
    /// Where the header of a data chunk begins that reaches to the end of the file, and whose size was never filled in.
    package private(set) var openChunk: Int?
    /// Bytes of a sample of all channels, as the format chunk says; 1 where it says nothing.
    package private(set) var frameBytes = 1

    /// Some writers count the eight bytes of the chunk's own header.
    private static let toleranceBytes = 8
    private static let unfinished = 0xFFFF_FFFF

    /// - Throws: `media.corrupt` when samples are missing, or their number was never filled in and cannot be told.
    package static func walk(_ window: ByteWindow) throws -> WaveWalk {
        var walk = WaveWalk()
        let form = try window.characters(at: 0, count: 4)
        let riff = try integer(at: 4, form: form, of: window)
        if form != "RF64", form != "BW64", riff != 0, riff != unfinished, riff + 8 > window.size + toleranceBytes + 1 {
            throw window.cut
        }
        var offset = 12
        var large: Int?
        var samples: Int?
        while offset + 8 <= window.size {
            let name = try window.characters(at: offset, count: 4)
            var size = try integer(at: offset + 4, form: form, of: window)
            if name == "fmt ", form == "RIFF", size >= 14 {
                walk.frameBytes = max(1, try window.littleEndian(at: offset + 20, bytes: 2))
            }
            if name == "ds64" { large = try window.littleEndian(at: offset + 16, bytes: 8) & Int.max }
            if name == "data" {
                if size == unfinished { size = large ?? unfinished }
                samples = samples ?? size
                if size == 0 || size == unfinished {
                    guard form == "RIFF", try reachesEnd(offset + 8, of: window) else { throw unfilled }
                    walk.openChunk = offset
                    return walk
                }
            }
            if size > window.size - offset - 8 {
                // What follows the samples may be anything; the samples may not be short.
                if samples != nil, name != "data", !isName(name) { return walk }
                throw window.cut
            }
            offset = try next(after: offset + 8 + size, isOdd: size % 2 == 1, of: window)
        }
        if samples == nil { throw window.cut }
        return walk
    }

    /// Whether samples lie from an offset to the end of the file, and no chunk.
    private static func reachesEnd(_ offset: Int, of window: ByteWindow) throws -> Bool {
        guard offset + 8 <= window.size else { return offset < window.size }
        let size = try window.littleEndian(at: offset + 4, bytes: 4)
        return try !isName(window.characters(at: offset, count: 4)) || size > window.size - offset - 8
    }

    private static let unfilled = AttachPrepError(
        .mediaCorrupt, "The WAV does not say how many samples it holds; its recording was never finished.")

    /// Chunks begin at even places, except where a writer forgot the pad byte.
    private static func next(after end: Int, isOdd: Bool, of window: ByteWindow) throws -> Int {
        guard isOdd, end + 8 <= window.size else { return end + (isOdd ? 1 : 0) }
        let isUnpadded = try window.byte(at: end) != 0 && isName(window.characters(at: end, count: 4))
        return isUnpadded ? end : end + 1
    }

    private static func integer(at offset: Int, form: String, of window: ByteWindow) throws -> Int {
        form == "RIFX" ? try window.bigEndian(at: offset, bytes: 4) : try window.littleEndian(at: offset, bytes: 4)
    }

    private static func isName(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }
    }
}
