import AttachPrepModel
import MediaTypes

/// Parses the chunks of a WAV (RIFF, RIFX, RF64) and checks that the declared samples are present.
///
/// Source: Microsoft and IBM, "Multimedia Programming Interface and Data Specifications 1.0"; EBU Tech 3306 (RF64).
// Bounded throughout: offsets in the file, and sizes of 32 bits; the 64-bit size is compared with what is left of the
// file before it is added.
package struct WaveParser: Sendable, Hashable {
    /// Offset of the header of a data chunk that reaches to the end of the file and has no size.
    package private(set) var openChunk: Int?
    /// Bytes per sample of all channels, from the format chunk; 1 if not declared.
    package private(set) var frameBytes = 1

    /// Some writers include the 8 bytes of the chunk header in its size.
    private static let toleranceBytes = 8
    private static let unfinished = 0xFFFF_FFFF

    /// - Throws: `media.corrupt` when samples are missing, or their number was not written and cannot be derived.
    package static func parse(_ window: ByteWindow) throws -> WaveParser {
        var parser = WaveParser()
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
                parser.frameBytes = max(1, try window.littleEndian(at: offset + 20, bytes: 2))
            }
            if name == "ds64" { large = try window.littleEndian(at: offset + 16, bytes: 8) & Int.max }
            if name == "data" {
                if size == unfinished { size = large ?? unfinished }
                samples = samples ?? size
                if size == 0 || size == unfinished {
                    guard form == "RIFF", try reachesEnd(offset + 8, of: window) else { throw undeclaredLength }
                    parser.openChunk = offset
                    return parser
                }
            }
            if size > window.size - offset - 8 {
                // Anything may follow the samples, but the samples must be complete.
                if samples != nil, name != "data", !isName(name) { return parser }
                throw window.cut
            }
            offset = try next(after: offset + 8 + size, isOdd: size % 2 == 1, of: window)
        }
        if samples == nil { throw window.cut }
        return parser
    }

    /// Whether samples, not a chunk, lie between an offset and the end of the file.
    private static func reachesEnd(_ offset: Int, of window: ByteWindow) throws -> Bool {
        guard offset + 8 <= window.size else { return offset < window.size }
        let size = try window.littleEndian(at: offset + 4, bytes: 4)
        return try !isName(window.characters(at: offset, count: 4)) || size > window.size - offset - 8
    }

    private static let undeclaredLength = AttachPrepError(
        .mediaCorrupt, "The WAV does not declare its number of samples; its recording was not finished.")

    /// Chunks begin at even offsets, except where a writer omitted the pad byte.
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

/// Checks that an AVI holds the declared chunks.
///
/// Source: Microsoft's "AVI RIFF File Reference" and the OpenDML extensions 1.02 (several RIFF chunks).
// Bounded throughout: offsets in the file, and sizes of 32 bits.
package enum AVIValidator {
    /// Some writers include the 8 bytes of the chunk header in its size.
    private static let toleranceBytes = 8

    /// - Throws: `media.corrupt` when a list reaches past the end of the file or there is no movie list.
    package static func check(_ window: ByteWindow) throws {
        var offset = 0
        var hasMovie = false
        while offset + 12 <= window.size, try window.characters(at: offset, count: 4) == "RIFF" {
            let end = try declaredEnd(at: offset, of: window)
            if end > window.size + toleranceBytes { throw window.cut }
            hasMovie = try parseLists(from: offset + 12, to: min(end, window.size), of: window) || hasMovie
            offset = end
        }
        if !hasMovie { throw window.cut }
    }

    /// Sizes of zero or all ones are placeholders of writers that could not seek back.
    private static func declaredEnd(at offset: Int, of window: ByteWindow) throws -> Int {
        let size = try window.littleEndian(at: offset + 4, bytes: 4)
        if size == 0 || size == 0xFFFF_FFFF { return window.size }
        return offset + 8 + size + size % 2
    }

    private static func parseLists(from start: Int, to end: Int, of window: ByteWindow) throws -> Bool {
        var offset = start
        var hasMovie = false
        while offset + 8 <= end {
            let name = try window.characters(at: offset, count: 4)
            let isMovie = try name == "LIST" && window.characters(at: offset + 8, count: 4) == "movi"
            hasMovie = hasMovie || isMovie
            let next = isMovie ? try declaredEnd(at: offset, of: window) : try chunkEnd(at: offset, of: window)
            if next > window.size + (isMovie ? toleranceBytes : 1) {
                // Junk after the last movie list is harmless; a truncated list is not.
                if hasMovie, !["LIST", "idx1", "JUNK"].contains(name) { return true }
                throw window.cut
            }
            offset = next
        }
        return hasMovie
    }

    private static func chunkEnd(at offset: Int, of window: ByteWindow) throws -> Int {
        let size = try window.littleEndian(at: offset + 4, bytes: 4)
        return offset + 8 + size + size % 2
    }
}

/// Checks that an AIFF or AIFC holds the declared samples.
///
/// Source: Apple, "Audio Interchange File Format 1.3" and its AIFF-C draft.
// Bounded throughout: offsets in the file, and sizes of 32 bits; samples have 32, 16 and 13 bits.
package enum AIFFValidator {
    /// - Throws: `media.corrupt` when samples are missing.
    package static func check(_ window: ByteWindow) throws {
        let isCompressible = try window.characters(at: 8, count: 4) == "AIFC"
        var offset = 12
        var declared: Int?
        var held: Int?
        while offset + 8 <= window.size {
            let name = try window.characters(at: offset, count: 4)
            let size = try window.bigEndian(at: offset + 4, bytes: 4)
            if size > window.size - offset - 8 {
                if held != nil, !name.unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) { break }
                throw window.cut
            }
            if name == "COMM" { declared = try sampleBytes(at: offset + 8, isCompressible: isCompressible, of: window) }
            if name == "SSND" { held = size - 8 }
            offset += 8 + size + size % 2
        }
        guard let held, held > 0 else { throw window.cut }
        if let declared, declared > held { throw window.cut }
    }

    /// Bytes of the samples according to the common chunk; nil if they are compressed.
    private static func sampleBytes(at offset: Int, isCompressible: Bool, of window: ByteWindow) throws -> Int? {
        let channels = try window.bigEndian(at: offset, bytes: 2)
        let frames = try window.bigEndian(at: offset + 2, bytes: 4)
        let bits = try window.bigEndian(at: offset + 6, bytes: 2)
        if isCompressible {
            let kind = try window.characters(at: offset + 18, count: 4)
            if !["NONE", "twos", "sowt", "none"].contains(kind) { return nil }
        }
        return frames * channels * ((bits + 7) / 8)
    }
}
