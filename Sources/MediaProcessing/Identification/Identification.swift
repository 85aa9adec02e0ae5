import Glibc
package import Magic
package import MediaEngine
package import RichPush

/// What a file is, from the bytes it begins with: our own table first, then libmagic for what is not media.
package enum Identification {
    /// Reads the available bytes and says what they begin.
    ///
    /// - Throws: `media.empty`, `media.unrecognized` (HTML, JSON, ZIP…), `media.unsupported` (SVG, MIDI…) or
    ///   `media.corrupt` (nothing behind an ID3 tag).
    package static func identify(_ request: IdentifyRequest, descriptor: CInt, cookie: MagicCookie) throws
        -> IdentifiedMedia
    {
        guard request.availableBytes > 0 || !request.isComplete else {
            throw AttachPrepError(.mediaEmpty, "The source is empty (0 bytes); check what the server sends.")
        }
        let first = try FirstBytes(read(descriptor, at: 0, upTo: min(request.availableBytes, windowBytes)))
        // It gives up on some bytes, where its rules lead round; then it knows nothing of them.
        let magic = (try? cookie.mimeType(of: first.bytes)) ?? unknown
        let format = try format(of: first, magic: magic, descriptor: descriptor, isComplete: request.isComplete)
        return IdentifiedMedia(format: format, magicMIMEType: magic)
    }

    /// libmagic's word for what it does not know.
    private static let unknown = "application/octet-stream"

    /// How much of a file is looked at: the signatures lie in the first kilobytes.
    private static let windowBytes = 65_536

    private static func format(of first: FirstBytes, magic: String, descriptor: CInt, isComplete: Bool) throws
        -> MediaFormat?
    {
        let format =
            try signature(of: first) ?? (isComplete ? behindTag(first, descriptor: descriptor) : nil)
        if let format { return try decodable(format) }
        switch MagicName.verdict(magic) {
        case .media(let format): return try decodable(format)
        case .unsupportedMedia: throw unsupported(magic)
        case .notMedia: throw unrecognized(magic)
        case .anything: return nil
        }
    }

    /// The format by our own table of signatures, or nil.
    package static func signature(of first: FirstBytes) -> MediaFormat? {
        PictureSignature.format(of: first) ?? ISOBrand.format(of: first) ?? MovieSignature.format(of: first)
            ?? SoundSignature.format(of: first)
    }

    /// A large cover in an ID3 tag hides the sound behind it from the first kilobytes.
    private static func behindTag(_ first: FirstBytes, descriptor: CInt) throws -> MediaFormat? {
        let end = SoundSignature.tagEnd(first)
        guard end > 0 else { return nil }
        let behind = try FirstBytes(read(descriptor, at: end, upTo: 8_192))
        guard behind.count > 0 else {
            throw AttachPrepError(
                .mediaCorrupt, "The sound ends inside its ID3 tag; it was cut, check the file at its source.")
        }
        return behind.has("fLaC") ? .flac : SoundSignature.format(of: behind)
    }

    private static func decodable(_ format: MediaFormat) throws -> MediaFormat {
        guard format.isDecodable else { throw unsupported(format.mimeType) }
        return format
    }

    private static func unsupported(_ mimeType: String) -> AttachPrepError {
        AttachPrepError(
            .mediaUnsupported,
            "The source is \(mimeType), which cannot be shown; send a picture, sound or movie in a common format.")
    }

    private static func unrecognized(_ mimeType: String) -> AttachPrepError {
        AttachPrepError(
            .mediaUnrecognized,
            "The source is \(mimeType), not a picture, sound or movie; check that the URL leads to the file itself.")
    }

    private static func read(_ descriptor: CInt, at offset: Int, upTo count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        let read = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(clamping: offset))
        }
        guard read >= 0 else {
            throw AttachPrepError(.internal, "The source could not be read back.", detail: "pread: errno \(errno)")
        }
        return Array(bytes.prefix(read))
    }
}
