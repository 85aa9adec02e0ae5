import AttachPrepModel
import Glibc
import Linux
package import MediaEngine
package import MediaLibraries
package import MediaTypes
import SafeArithmetic

/// Identifies a file's format by its first bytes: by signature, then by libmagic for content that is not media.
package enum Identification {
    /// Identifies the available bytes.
    ///
    /// - Returns: The format, nil if it is not known yet, and for content without a known signature libmagic's MIME
    ///   type.
    /// - Throws: `media.empty`, `media.unrecognized` (a web page, a playlist, JSON, ZIP…), `media.unsupported` (MIDI,
    ///   Lottie…) or `media.corrupt` (no data after an ID3 tag).
    package static func identify(_ request: IdentifyRequest, descriptor: CInt, cookie: MagicCookie) throws
        -> IdentifiedMedia
    {
        guard request.availableBytes > 0 || !request.isComplete else {
            throw AttachPrepError(.mediaEmpty, "The source is empty (0 bytes); check what the server sends.")
        }
        let first = try LeadingBytes(
            read(descriptor, at: 0, upTo: min(request.availableBytes, Limits.identifyBytesLast)))
        if first.isPlaylist { throw unusablePlaylist }
        let known =
            try FileSignature.format(of: first)
            ?? (request.isComplete ? behindTag(first, descriptor: descriptor) : nil)
        if let known { return IdentifiedMedia(format: try decodable(known), magicMIMEType: "") }
        // libmagic knows no SVG behind a long comment.
        if !request.isComplete, first.count < Limits.identifyBytesLast, XMLRoot(first) == .incomplete {
            return IdentifiedMedia(format: nil, magicMIMEType: "")
        }
        // libmagic fails on input for which its rules loop; such content counts as unknown.
        let magic = (try? cookie.mimeType(of: first.bytes)) ?? unknown
        if isPage(first, magic: magic) { throw unusablePage }
        return IdentifiedMedia(format: try format(ofUnsigned: first, magic: magic), magicMIMEType: magic)
    }

    private static let unusablePlaylist = AttachPrepError(
        .mediaUnrecognized,
        "The source is a playlist (M3U or M3U8), which only lists other files; give the URL of an image, audio or "
            + "movie file, such as an MP4 of the stream.")

    private static let unusablePage = AttachPrepError(
        .mediaUnrecognized,
        "The source is a web page (HTML), not an image, audio or movie file; give the URL of the file itself.")

    /// Whether it is HTML, by libmagic or, for text, by an element of its head.
    private static func isPage(_ first: LeadingBytes, magic: String) -> Bool {
        if ["text/html", "application/xhtml+xml"].contains(magic) { return true }
        guard magic.hasPrefix("text/") || magic == "application/xml" else { return false }
        let text = String(decoding: first.bytes.prefix(1_024), as: UTF8.self).lowercased()
        let beginning = LeadingBytes(Array(text.utf8))
        return ["<!doctype html", "<html", "<head", "<meta "].contains { beginning.contains($0, within: 1_024) }
    }

    /// libmagic's MIME type for unknown content.
    private static let unknown = "application/octet-stream"

    /// The format of content without a known signature; nil if it is not known yet.
    private static func format(ofUnsigned first: LeadingBytes, magic: String) throws -> MediaFormat? {
        if isLottie(first) { throw unsupportedLottie }
        switch MagicMIMEType.meaning(magic) {
        case .media(let format): return try decodable(format)
        case .unsupportedMedia: throw unsupported(magic)
        case .notMedia: throw unrecognized(magic)
        case .anything: return nil
        }
    }

    /// Identifies audio after an ID3 tag whose cover image is larger than the window.
    private static func behindTag(_ first: LeadingBytes, descriptor: CInt) throws -> MediaFormat? {
        let end = AudioSignature.tagEnd(first)
        guard end > 0 else { return nil }
        let following = try LeadingBytes(read(descriptor, at: end, upTo: 8_192))
        guard following.count > 0 else {
            throw AttachPrepError(
                .mediaCorrupt, "The audio file ends inside its ID3 tag; it is truncated, check the file at its source.")
        }
        return following.has("fLaC") ? .flac : AudioSignature.format(of: following)
    }

    /// Whether it is the JSON of a Lottie animation, which begins with its version, frames and layers.
    private static func isLottie(_ first: LeadingBytes) -> Bool {
        first.has("{")
            && ["\"v\"", "\"op\"", "\"layers\""].allSatisfy { first.contains($0, within: Limits.identifyBytesLast) }
    }

    private static let unsupportedLottie = AttachPrepError(
        .mediaUnsupported, "The source is a Lottie animation, which is not drawn; render it to a GIF, WebP or MP4.")

    private static func decodable(_ format: MediaFormat) throws -> MediaFormat {
        guard format.isDecodable else { throw unsupported(format.mimeType) }
        return format
    }

    private static func unsupported(_ mimeType: String) -> AttachPrepError {
        AttachPrepError(
            .mediaUnsupported,
            "The source is \(mimeType), which cannot be shown; send an image, audio or movie file in a common format.")
    }

    private static func unrecognized(_ mimeType: String) -> AttachPrepError {
        // The stickers of Telegram are Lottie animations in gzip.
        let remedy =
            mimeType == "application/gzip"
            ? "send the file that is in it, and an animated sticker (TGS) as a GIF, WebP or MP4"
            : "check that the URL leads to the file"
        return AttachPrepError(
            .mediaUnrecognized, "The source is \(mimeType), not an image, audio or movie file; \(remedy).")
    }

    private static func read(_ descriptor: CInt, at offset: Int, upTo count: Int) throws -> [UInt8] {
        do { return try FileIO.bytes(descriptor, at: offset, count: count) } catch {
            throw AttachPrepError(
                .internal, "The source could not be read back.", detail: "pread: errno \(error.code)")
        }
    }
}

/// Meaning of libmagic's MIME types for content without a known signature.
package enum MagicMIMEType {
    package enum Meaning: Sendable, Hashable {
        /// A supported or known format.
        case media(MediaFormat)
        /// A media format that is not supported.
        case unsupportedMedia
        /// A document, an archive, a program, text.
        case notMedia
        /// Unknown to libmagic: the decoders are tried.
        case anything
    }

    /// Classifies a MIME type. libmagic detects audio and video by weak patterns, so its result alone rejects neither.
    package static func meaning(_ mimeType: String) -> Meaning {
        if let format = formats[mimeType] { return .media(format) }
        if mimeType == "application/octet-stream" { return .anything }
        if mimeType.hasPrefix("image/") || unsupported.contains(mimeType) { return .unsupportedMedia }
        if mimeType.hasPrefix("audio/") || mimeType.hasPrefix("video/") { return .anything }
        return .notMedia
    }

    private static let formats: [String: MediaFormat] = [
        "audio/midi": .midi
    ]

    /// Audio and movies without a decoder here: Musepack, Monkey's Audio, DSD, RealMedia.
    private static let unsupported: Set<String> = [
        "audio/x-musepack", "audio/x-ape", "audio/x-dsf", "audio/x-dff", "audio/x-pn-realaudio",
        "application/vnd.rn-realmedia",
    ]
}
