import MediaEngine
import MediaLibraries
import MediaTypes

/// The EXIF orientation in a text chunk of a PNG, where ImageMagick and ExifTool write EXIF ("Raw profile type exif").
///
/// Some decoders, Apple's among them, turn the pixels by it; browsers and libvips do not.
enum PNGTextOrientation {
    /// The profile's keyword, and whether every profile of that name is EXIF; an APP1 segment may also be XMP.
    private static let keywords = [("Raw profile type exif", true), ("Raw profile type APP1", false)]
    /// "Exif" and two zeros, the header of a JPEG's APP1 segment.
    private static let header: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
    /// Digits that are decoded: the orientation is in the first directory, at the beginning.
    private static let digitsMax = 131_072

    /// The orientation if the pixels are not stored upright; nil too for a PNG that has an `eXIf` chunk, which takes
    /// precedence, and when the chunk comes after the first pixel.
    static func read(descriptor: CInt) -> Orientation? {
        guard let decoder = try? PNGDecoder(descriptor: descriptor) else { return nil }
        return read(decoder)
    }

    static func read(_ decoder: PNGDecoder) -> Orientation? {
        guard !decoder.hasExif else { return nil }
        for (keyword, isAlwaysExif) in keywords {
            guard let text = decoder.text(named: keyword), let block = profile(text) else { continue }
            guard isAlwaysExif || block.starts(with: header) else { continue }
            let tags = block.starts(with: header) ? Array(block.dropFirst(header.count)) : block
            let orientation = ExifTags.facts(tags)?.orientation.flatMap(Orientation.init)
            return orientation == .upright ? nil : orientation
        }
        return nil
    }

    /// The bytes of a raw profile: a line break, its name, its length in decimal, and hexadecimal digits in lines.
    static func profile(_ text: [UInt8]) -> [UInt8]? {
        let lines = text.drop { $0 == 0x0A }.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count == 3 else { return nil }
        let digits = lines[2].filter { $0 != 0x0A }.prefix(digitsMax)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
            // Bounded: an even number of digits.
            guard let byte = UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
