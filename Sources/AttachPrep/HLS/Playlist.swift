package import AttachPrepModel
package import RichPush
import SafeArithmetic

/// An HLS playlist (RFC 8216): a master playlist lists variants, a media playlist lists segments.
package enum Playlist: Sendable, Hashable {
    case master(MasterPlaylist)
    case media(MediaPlaylist)

    /// The first characters of every playlist.
    static let signature = "#EXTM3U"

    static let mimeType = "application/vnd.apple.mpegurl"

    /// Whether these first bytes of a file begin a playlist; a byte order mark may precede it.
    package static func begins(_ first: some Collection<UInt8>) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return first.starts(with: signature.utf8) || first.starts(with: mark + Array(signature.utf8))
    }

    /// Reads a playlist.
    ///
    /// - Throws: `media.corrupt` with the number of the line, `media.unsupported` for a list of songs and for features
    ///   that a clip cannot be made of, `media.empty` for a playlist without entries, `download.too_large` for one with
    ///   too many.
    package init(_ bytes: [UInt8]) throws(AttachPrepError) {
        guard Self.begins(bytes), !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .brokenPlaylist(line: 1, "it is not text that begins with #EXTM3U")
        }
        var reader = PlaylistReader()
        // "\r\n" is a single character.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) { try reader.read(line) }
        self = try reader.finished()
    }
}

/// A list of variants: encodings of the same content.
package struct MasterPlaylist: Sendable, Hashable {
    package var variants: [PlaylistVariant] = []
    /// Audio in playlists of its own, in the order of the playlist.
    package var audio: [HLSAudioRendition] = []

    /// An audio track of a group that variants refer to.
    package struct HLSAudioRendition: Sendable, Hashable {
        package var group: String
        /// Nil when the audio is part of the variant's own segments.
        package var uri: String?
        package var isDefault: Bool
        package var isAutomatic: Bool
    }
}

/// One encoding of the content (`EXT-X-STREAM-INF`).
package struct PlaylistVariant: Sendable, Hashable {
    package var uri: String
    /// Peak bits per second.
    package var bandwidth: Int
    /// RFC 6381 names, such as `avc1.64001f` and `mp4a.40.2`; empty when not declared.
    package var codecs: [String] = []
    package var width: Int?
    package var height: Int?
    package var frameRate: Double?
    /// The group of audio renditions; nil when the segments contain the audio.
    package var audioGroup: String?
}

/// A list of segments.
package struct MediaPlaylist: Sendable, Hashable {
    package var segments: [PlaylistSegment] = []
    /// Whether no segments will be added (`EXT-X-ENDLIST`).
    package var isEnded = false
}

/// One segment of a media playlist.
package struct PlaylistSegment: Sendable, Hashable {
    package var uri: String
    package var seconds: Double
    /// Media sequence number.
    package var sequence: UInt64
    /// Counts discontinuities before it: timestamps continue only between segments with the same number.
    package var discontinuity: Int
    /// The part of the resource; nil for the whole.
    package var range: ResourceRange?
    package var protection = SegmentProtection.none
    /// The initialization section; nil for MPEG-TS and packed audio.
    package var map: InitializationSection?
    /// Whether the server does not have it (`EXT-X-GAP`).
    package var isGap = false
}

/// The initialization section of fragmented MP4 segments (`EXT-X-MAP`).
package struct InitializationSection: Sendable, Hashable {
    package var uri: String
    package var range: ResourceRange?
    package var protection = SegmentProtection.none
}

/// How a segment is encrypted (`EXT-X-KEY`).
package enum SegmentProtection: Sendable, Hashable {
    case none
    /// The whole segment with AES-128 in CBC mode. `vector` has 16 bytes; nil means the media sequence number.
    case aes128(uri: String, vector: [UInt8]?)
    /// By a method or a key system that is not supported: SAMPLE-AES, FairPlay, Widevine.
    case unsupported(String)
}

/// A part of a resource in bytes. Offset and length are not negative, and their sum does not overflow.
package struct ResourceRange: Sendable, Hashable {
    package let offset: Int
    package let length: Int

    /// Nil for an empty range, and for one whose end is out of range.
    package init?(offset: Int, length: Int) {
        guard offset >= 0, length > 0, offset.adding(exactly: length) != nil else { return nil }
        self.offset = offset
        self.length = length
    }

    /// The offset after the last byte.
    // Bounded: checked when it is created.
    package var end: Int { offset + length }
}

extension Limits {
    /// A playlist and those it leads to, in bytes. With the piece of 16 KiB in flight when the limit is reached, a
    /// rejection costs at most 64 KiB. An hour of segments of 6 s takes about 40 KB.
    package static let playlistBytesMax = 49_152
    /// Segments or variants of a playlist; an hour in segments of 4 s.
    package static let playlistEntriesMax = 1_000
    /// Seconds of one segment; segments of more than a minute are not in use.
    static let segmentSecondsMax = 86_400.0
}
