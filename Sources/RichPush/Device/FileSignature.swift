extension AttachmentType {
    /// By a file's first bytes: for files of which nobody says what they are.
    ///
    /// - Parameter bytes: at least the first 12.
    public init?(beginning bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(12))
        guard bytes.count == 12, let type = Self.signature(bytes) else { return nil }
        self = type
    }

    private static func signature(_ bytes: [UInt8]) -> AttachmentType? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return .png }
        if bytes.starts(with: [0, 0, 1, 0xBA]) { return .mpeg }
        if bytes[0] == 0xFF, [0xFA, 0xFB, 0xF2, 0xF3].contains(bytes[1]) { return .mp3 }
        return switch (text(bytes[0..<4]), text(bytes[4..<8]), text(bytes[8..<12])) {
        case ("GIF8", _, _): .gif
        case ("RIFF", _, "WAVE"): .wave
        case ("RIFF", _, "AVI "): .avi
        case ("FORM", _, "AIFF"): .aiff
        case (_, "ftyp", let brand): container(brand)
        case (let tag, _, _) where tag.hasPrefix("ID3"): .mp3
        default: nil
        }
    }

    /// Boxes hold pictures and QuickTime movies as well, which are not attachable.
    private static func container(_ brand: String) -> AttachmentType? {
        if ["M4A ", "M4B "].contains(brand) { return .mpeg4Audio }
        let isMovie = ["iso", "mp4", "avc", "M4V", "dash", "MSNV"].contains { brand.hasPrefix($0) }
        return isMovie ? .mpeg4 : nil
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
