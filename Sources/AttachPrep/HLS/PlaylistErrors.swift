import AttachPrepModel
import RichPush

/// The errors of playlists. Each message gives what failed and what to do.
extension AttachPrepError {
    static func brokenPlaylist(line: Int, _ what: String) -> AttachPrepError {
        AttachPrepError(
            .mediaCorrupt, "Line \(line.grouped) of the playlist is invalid: \(what); correct the playlist.")
    }

    static let audioPlaylist = AttachPrepError(
        .mediaUnrecognized, "The source is an M3U list of files, not an HLS playlist; link one of its files.")

    static let localPlaylist = AttachPrepError(
        .mediaUnrecognized, "The file is a playlist, which only lists other files; give the URL of the playlist.")

    static let unconvertedPlaylist = AttachPrepError(
        .mediaUnsupported,
        "The source is an HLS playlist, which iOS does not attach; allow converting it (unsupported: convert).")

    static func unsupportedPlaylist(_ what: String) -> AttachPrepError {
        AttachPrepError(
            .mediaUnsupported, "The playlist uses \(what), which is not supported; link a playlist without it.")
    }

    /// A live playlist may have segments later.
    static func emptyPlaylist(isLive: Bool) -> AttachPrepError {
        AttachPrepError(
            .mediaEmpty, "The playlist lists no segments; check the stream, or try again when it has begun.",
            isRetryable: isLive)
    }

    static let playlistTooLong = AttachPrepError(
        .downloadTooLarge,
        "The playlist has more than \(Limits.playlistEntriesMax.grouped) entries; link a shorter one.")

    static let playlistTooLarge = AttachPrepError(
        .downloadTooLarge,
        "The playlist and those it leads to are over the limit of \(Limits.playlistBytesMax.grouped) bytes; "
            + "link a shorter one.")

    static let nestedPlaylist = AttachPrepError(
        .mediaCorrupt, "A variant of the playlist is another master playlist; link a playlist of segments.")

    static let noVariant = AttachPrepError(
        .mediaUnsupported, "The playlist has no variant with an address; link a playlist of segments.")

    static func protectedPlaylist(_ method: String) -> AttachPrepError {
        AttachPrepError(
            .mediaEncrypted,
            "The segments are protected (\(method.prefix(64))), and only AES-128 can be read; "
                + "link an unprotected stream."
        )
    }

    static func tooManySegments(_ seconds: Double) -> AttachPrepError {
        AttachPrepError(
            .mediaTooLong,
            "A clip of \(seconds) s takes more than \(Limits.clipSegmentsMax) segments; request a shorter `clip`.")
    }

    static func invalidKeySize(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .mediaCorrupt, "The key of the segments on \(host) does not have 16 bytes; check what the server sends.")
    }

    static let segmentsTooLarge = AttachPrepError(
        .downloadTooLarge,
        "The segments of the playlist are over the limit of \(Limits.clipBytesMax.grouped) bytes; request a "
            + "shorter `clip` or link a smaller variant.")
}
