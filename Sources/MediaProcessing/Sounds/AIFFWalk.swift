import RichPush

/// The chunks of an AIFF or AIFC: that the file holds the samples it declares.
///
/// Source: Apple, "Audio Interchange File Format 1.3" and its AIFF-C draft.
// Bounded throughout: places in the file, and sizes of 32 bits; samples have 32, 16 and 13 bits.
package enum AIFFWalk {
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

    /// Bytes of the samples by the common chunk; nil where they are compressed.
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
