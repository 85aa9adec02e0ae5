import MediaEngine
import PNG
import RichPush

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
        let digits = lines[2].lazy.compactMap(digit).prefix(digitsMax)
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        // Bounded: the cases are within the digits.
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
