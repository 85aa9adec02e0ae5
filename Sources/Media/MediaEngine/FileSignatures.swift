package import MediaTypes
import SafeArithmetic

/// Identifies formats by signatures in the first bytes of a file.
///
/// It runs outside the media process: it calls no library, its memory is checked, and its time is bounded.
package enum FileSignature {
    /// The format by signature; nil for a playlist, which is text before any data, and for other content without one.
    package static func format(of first: LeadingBytes) -> MediaFormat? {
        if first.isPlaylist { return nil }
        return ImageSignature.format(of: first) ?? ISOBrand.format(of: first) ?? MovieSignature.format(of: first)
            ?? AudioSignature.format(of: first)
    }
}

extension LeadingBytes {
    /// Whether it is an M3U, whose first line may follow a byte order mark and empty lines.
    package var isPlaylist: Bool {
        let start = has([0xEF, 0xBB, 0xBF]) ? 3 : 0
        let lines = bytes.dropFirst(start).drop { [0x09, 0x0A, 0x0D, 0x20].contains($0) }
        return lines.starts(with: "#EXTM3U".utf8)
    }
}

/// Identifies image formats by the first bytes of a file.
///
/// Sources: the format specifications; `docs/reference/apple-attachment-rules.md` lists which of them iOS accepts.
package enum ImageSignature {
    /// The image format that begins with these bytes, or nil.
    package static func format(of first: LeadingBytes) -> MediaFormat? {
        plainFormat(of: first) ?? bitmapFormat(of: first) ?? drawnFormat(of: first)
    }

    private static let table: [(signature: [UInt8], format: MediaFormat)] = [
        ([0xFF, 0xD8, 0xFF], .jpeg),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
        (Array("GIF87a".utf8), .gif),
        (Array("GIF89a".utf8), .gif),
        ([0x49, 0x49, 0x2A, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2A], .tiff),
        ([0x49, 0x49, 0x2B, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2B], .tiff),
        ([0x00, 0x00, 0x01, 0x00], .icon),
        ([0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20], .jpeg2000),
        ([0xFF, 0x4F, 0xFF, 0x51], .jpeg2000),
        ([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20], .jpegXL),
        ([0xFF, 0x0A], .jpegXL),
    ]

    private static func plainFormat(of first: LeadingBytes) -> MediaFormat? {
        if first.has("RIFF"), first.has("WEBP", at: 8) { return .webp }
        // An MPEG stream's 00 00 01 BA differs from an icon's 00 00 01 00 in the fourth byte; an icon also has a count.
        return table.first { first.has($0.signature) && ($0.format != .icon || hasIconCount(first)) }?.format
    }

    private static func hasIconCount(_ first: LeadingBytes) -> Bool {
        first[4] > 0 && first[5] == 0 && first[9] == 0
    }

    /// "BM" alone also begins many texts, so the size of the following header must be one of the legal values.
    private static func bitmapFormat(of first: LeadingBytes) -> MediaFormat? {
        let headerSizes: Set<UInt8> = [12, 40, 52, 56, 64, 108, 124]
        let isBitmap = first.has("BM") && headerSizes.contains(first[14]) && first.has([0, 0, 0], at: 15)
        return isBitmap ? .bmp : nil
    }

    private static func drawnFormat(of first: LeadingBytes) -> MediaFormat? {
        XMLRoot(first) == .element("svg") ? .svg : nil
    }
}

/// The root element of an XML document, which a byte order mark, white space, declarations and comments may precede.
///
/// Source: W3C, "Extensible Markup Language (XML) 1.0", 2.8 (prolog) and F (detection of encodings).
package enum XMLRoot: Hashable {
    /// Its name without the prefix of a namespace.
    case element(String)
    /// More bytes are needed.
    case incomplete
    /// The bytes are not XML.
    case none

    package init(_ first: LeadingBytes) {
        var rest = Self.markup(first.bytes)
        while true {
            rest = rest.drop { $0 <= 0x20 }
            guard let byte = rest.first, byte == UInt8(ascii: "<") else {
                self = rest.isEmpty && first.count > 0 ? .incomplete : .none
                return
            }
            guard rest.dropFirst().first.map({ $0 == UInt8(ascii: "!") || $0 == UInt8(ascii: "?") }) ?? true else {
                break
            }
            guard let end = Self.end(ofDeclaration: rest) else {
                self = .incomplete
                return
            }
            rest = rest[end...]
        }
        let name = rest.dropFirst().prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        let local = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last ?? []
        // A name that ends with the bytes may be longer.
        self = name.endIndex == rest.endIndex ? .incomplete : .element(String(decoding: local, as: UTF8.self))
    }

    /// The document as far as it is ASCII, without a byte order mark: UTF-16 has zeros between the letters of markup.
    private static func markup(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]]
        let mark = marks.first { bytes.starts(with: $0) }?.count ?? 0
        let isWide = mark == 2 || bytes.starts(with: [0x3C, 0]) || bytes.starts(with: [0, 0x3C])
        return isWide ? bytes.dropFirst(mark).filter { $0 != 0 }[...] : bytes.dropFirst(mark)
    }

    /// The index after a comment, an instruction or a document type; nil where it does not end.
    private static func end(ofDeclaration rest: ArraySlice<UInt8>) -> Int? {
        if rest.starts(with: "<!--".utf8) { return end(of: "-->", in: rest.dropFirst(4)) }
        if rest.starts(with: "<?".utf8) { return end(of: "?>", in: rest.dropFirst(2)) }
        guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "[") }) else {
            return nil
        }
        // A document type may contain declarations in brackets.
        return rest[end] == UInt8(ascii: ">") ? rest.index(after: end) : self.end(of: "]>", in: rest[end...])
    }

    private static func end(of text: StaticString, in rest: ArraySlice<UInt8>) -> Int? {
        rest.firstRange(of: Array("\(text)".utf8))?.upperBound
    }
}

/// Identifies files of the ISO base media family (MP4, QuickTime, HEIF, 3GP) by the brands of their `ftyp` box.
///
/// Source: ISO/IEC 14496-12, 4.3; the MP4 registration authority's list of brands.
package enum ISOBrand {
    /// The format of a file whose first box belongs to the family, or nil. Audio-only files are distinguished later.
    package static func format(of first: LeadingBytes) -> MediaFormat? {
        guard let box = first.code(at: 4) else { return nil }
        switch box {
        case "ftyp": return format(major: first.code(at: 8) ?? "", compatible: compatibleBrands(first))
        case "moov", "mdat", "wide", "skip", "pnot": return .quickTime
        case "free": return first.bigEndian32(at: 0) >= 8 ? .quickTime : nil
        case "styp", "moof", "sidx": return .mpeg4
        default: return nil
        }
    }

    private static func compatibleBrands(_ first: LeadingBytes) -> [String] {
        let end = min(first.bigEndian32(at: 0), first.count, 256)
        // Bounded: 0 to 256.
        return stride(from: 16, to: max(16, end - 3), by: 4).compactMap(first.code(at:))
    }

    /// Chooses the format, by the major brand first.
    package static func format(major: String, compatible: [String]) -> MediaFormat {
        switch major {
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": .heic
        case "avif", "avis": .avif
        case "mif1", "msf1", "mif2", "miaf", "1pic": stillFormat(compatible)
        case "qt  ": .quickTime
        case "M4A ", "M4B ", "M4P ": .mpeg4Audio
        case "M4V ", "M4VH", "M4VP": .m4v
        case "jp2 ", "jpx ", "jpm ", "mjp2": .jpeg2000
        case _ where major.hasPrefix("3gp") || major.hasPrefix("3gg") || major.hasPrefix("3gs"): .threeGPP
        case _ where major.hasPrefix("3g2"): .threeGPP2
        default: .mpeg4
        }
    }

    private static func stillFormat(_ compatible: [String]) -> MediaFormat {
        if compatible.contains("avif") || compatible.contains("avis") { return .avif }
        let coded = ["heic", "heix", "heim", "heis", "hevc", "hevx"]
        return compatible.contains(where: coded.contains) ? .heic : .heif
    }
}

/// Identifies movie formats by the first bytes of a file.
package enum MovieSignature {
    /// The movie format that begins with these bytes, or nil.
    package static func format(of first: LeadingBytes) -> MediaFormat? {
        if first.has("RIFF"), first.has("AVI ", at: 8) { return .avi }
        return table.first { first.has($0.signature) }?.format ?? elementaryFormat(of: first)
            ?? matroskaFormat(of: first) ?? transportFormat(of: first)
    }

    private static let table: [(signature: [UInt8], format: MediaFormat)] = [
        ([0x00, 0x00, 0x01, 0xBA], .mpegProgramStream),
        ([0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], .windowsMedia),
        (Array("FLV".utf8) + [0x01], .flashVideo),
        ([0x06, 0x0E, 0x2B, 0x34, 0x02, 0x05, 0x01, 0x01], .mxf),
        ([0x1F, 0x07, 0x00], .digitalVideo),
        (Array("FWS".utf8), .flash),
        (Array("CWS".utf8), .flash),
        (Array("ZWS".utf8), .flash),
    ]

    /// MPEG-2 has an extension (00 00 01 B5) after the sequence header, MPEG-1 does not.
    private static func elementaryFormat(of first: LeadingBytes) -> MediaFormat? {
        guard first.has([0x00, 0x00, 0x01, 0xB3]) else { return nil }
        let header = 12..<200
        return header.contains { first.has([0x00, 0x00, 0x01, 0xB5], at: $0) } ? .mpeg2Video : .mpeg1Video
    }

    private static func matroskaFormat(of first: LeadingBytes) -> MediaFormat? {
        guard first.has([0x1A, 0x45, 0xDF, 0xA3]) else { return nil }
        return first.contains("webm", within: 64) ? .webm : .matroska
    }

    /// A sync byte every 188 bytes, or every 192 with a 4-byte time code before each packet.
    private static func transportFormat(of first: LeadingBytes) -> MediaFormat? {
        let layouts = [(start: 0, packet: 188), (start: 4, packet: 192)]
        let isTransport = layouts.contains { layout in
            // Bounded: five packets.
            (0..<5).allSatisfy { first[layout.start + $0 * layout.packet] == 0x47 }
        }
        return isTransport ? .mpegTransportStream : nil
    }
}

/// Identifies audio formats by the first bytes of a file.
package enum AudioSignature {
    /// The audio format that begins with these bytes, or nil.
    package static func format(of first: LeadingBytes) -> MediaFormat? {
        containerFormat(of: first) ?? table.first { first.has($0.signature) }?.format ?? oggFormat(of: first)
            ?? dolbyFormat(of: first) ?? framedFormat(of: first, from: tagEnd(first))
    }

    private static let table: [(signature: [UInt8], format: MediaFormat)] = [
        (Array(".snd".utf8), .au),
        (Array("caff".utf8), .caf),
        (Array("fLaC".utf8), .flac),
        (Array("#!AMR".utf8), .amr),
        (Array("wvpk".utf8), .wavPack),
        (Array("TTA1".utf8), .trueAudio),
        (Array("MThd".utf8), .midi),
        ([0x7F, 0xFE, 0x80, 0x01], .dts),
        (Array("riff".utf8) + [0x2E, 0x91, 0xCF, 0x11], .wave64),
    ]

    private static func containerFormat(of first: LeadingBytes) -> MediaFormat? {
        switch (first.code(at: 0), first.code(at: 8)) {
        case ("RIFF", "WAVE"): .wave
        case ("RF64", "WAVE"), ("BW64", "WAVE"): .wave64
        case ("RIFF", "RMID"): .midi
        case ("FORM", "AIFF"): .aiff
        case ("FORM", "AIFC"): .aifc
        default: nil
        }
    }

    /// The first page of an Ogg file holds the first stream's header, after a table of segments.
    private static func oggFormat(of first: LeadingBytes) -> MediaFormat? {
        guard first.has("OggS") else { return nil }
        // Bounded throughout: one byte.
        let header = 27 + Int(first[26])
        if first.has([0x80], at: header), first.has("theora", at: header + 1) { return .oggVideo }
        if first.has("fishead", at: header) { return .oggVideo }
        if first.has("OpusHead", at: header) { return .opus }
        if first.has("Speex", at: header) { return .speex }
        return .vorbis
    }

    private static func dolbyFormat(of first: LeadingBytes) -> MediaFormat? {
        guard first.has([0x0B, 0x77]), first.count > 5 else { return nil }
        let identification = first[5] >> 3
        return identification <= 10 ? .ac3 : identification <= 16 ? .eac3 : nil
    }

    /// Offset of the end of an ID3v2 tag, 0 without one; the tag can precede MP3, ADTS or FLAC.
    package static func tagEnd(_ first: LeadingBytes) -> Int {
        guard first.has("ID3"), first[3] < 0xFF, first[6] | first[7] | first[8] | first[9] < 0x80 else { return 0 }
        // Bounded throughout: seven bits each.
        let size = (6...9).reduce(0) { $0 << 7 | Int(first[$1]) }
        let footer = first[5] & 0x10 == 0 ? 0 : 10
        return 10 + size + footer
    }

    // Bounded throughout: offsets lie in the first bytes, or after a tag of at most 2^28, and a frame takes less than
    // 2^16 bytes.

    /// Maximum number of bytes of padding or junk before the first frame.
    private static let searchBytesMax = 2_048

    private static func framedFormat(of first: LeadingBytes, from start: Int) -> MediaFormat? {
        if start > 0, first.has("fLaC", at: start) { return .flac }
        guard start + 4 < first.count else { return nil }
        for offset in start..<min(start + searchBytesMax, first.count - 4) where first[offset] == 0xFF {
            if isADTS(first, at: offset) { return .aac }
            if let layer = layerOfRun(first, at: offset) { return layer == 3 ? .mp3 : .mp2 }
        }
        return nil
    }

    /// Consecutive frames required: a single header occurs by chance in one of a few hundred files.
    private static let framesInARow = 3

    private static func layerOfRun(_ first: LeadingBytes, at start: Int) -> Int? {
        guard let head = header(first, at: start) else { return nil }
        var offset = start
        for count in 1...framesInARow {
            guard let frame = header(first, at: offset), frame.matches(head), let bytes = frame.frameBytes else {
                return nil
            }
            offset += bytes
            // With too few bytes to check a second frame, the format stays unknown.
            if offset + 4 > first.count { return count > 1 ? head.layer : nil }
        }
        return head.layer
    }

    private static func header(_ first: LeadingBytes, at offset: Int) -> MPEGAudioHeader? {
        MPEGAudioHeader(UInt32(truncatingIfNeeded: first.bigEndian32(at: offset)))
    }

    private static func isADTS(_ first: LeadingBytes, at start: Int) -> Bool {
        var offset = start
        for count in 1...framesInARow {
            guard let bytes = adtsFrameBytes(first, at: offset) else { return false }
            offset += bytes
            if offset + 7 > first.count { return count > 1 }
        }
        return true
    }

    /// Source: ISO/IEC 13818-7, 6.2.
    private static func adtsFrameBytes(_ first: LeadingBytes, at offset: Int) -> Int? {
        guard first[offset] == 0xFF, first[offset + 1] & 0xF6 == 0xF0 else { return nil }
        let sampleRateIndex = first[offset + 2] >> 2 & 0x0F
        let bytes =
            Int(first[offset + 3] & 3) << 11 | Int(first[offset + 4]) << 3 | Int(first[offset + 5]) >> 5
        return sampleRateIndex < 13 && bytes > 7 ? bytes : nil
    }
}
