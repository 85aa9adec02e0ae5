import AttachPrepModel
import RichPush
import SafeArithmetic

/// Reads a playlist line by line. Unknown tags are ignored, as RFC 8216 demands.
struct PlaylistReader {
    private var line = 0
    private var master = MasterPlaylist()
    private var media = MediaPlaylist()
    /// Whether a tag of HLS occurred; without one it is a list of songs.
    private var hasTags = false
    private var entries = 0

    // State of the next entry.
    private var variant: PlaylistVariant?
    private var seconds: Double?
    private var range: (length: Int, offset: Int?)?
    private var isGap = false

    // State of all following entries.
    private var sequence: UInt64 = 0
    private var discontinuity = 0
    private var map: InitializationSection?
    /// By key format: several key systems may protect the same segment.
    private var keys: [String: SegmentProtection] = [:]
    private var lastRange: (uri: String, end: Int)?

    mutating func read(_ raw: Substring) throws(AttachPrepError) {
        line = line.adding(clamping: 1)
        let text = String(raw.trimmingWhitespace)
        if text.isEmpty || line == 1 { return }
        guard text.hasPrefix("#") else { return try entry(text) }
        if text.hasPrefix("#EXT-X-") { hasTags = true }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        try tag(text[..<colon].dropFirst(), colon == text.endIndex ? "" : text[colon...].dropFirst())
    }

    /// The whole playlist.
    func finished() throws(AttachPrepError) -> Playlist {
        guard hasTags else { throw .audioPlaylist }
        if !master.variants.isEmpty {
            guard media.segments.isEmpty else { throw broken("it lists both variants and segments") }
            return .master(master)
        }
        guard !media.segments.isEmpty else { throw .emptyPlaylist(isLive: !media.isEnded) }
        return .media(media)
    }

    private func broken(_ what: String) -> AttachPrepError { .brokenPlaylist(line: line, what) }

    // MARK: Tags

    private mutating func tag(_ name: Substring, _ value: Substring) throws(AttachPrepError) {
        switch name {
        case "EXTINF": try duration(value)
        case "EXT-X-BYTERANGE": range = try byteRange(String(value))
        case "EXT-X-GAP": isGap = true
        case "EXT-X-DISCONTINUITY": discontinuity = discontinuity.adding(clamping: 1)
        case "EXT-X-DISCONTINUITY-SEQUENCE":
            guard let number = PlaylistNumber.integer(value.trimmingWhitespace), media.segments.isEmpty else {
                throw broken("EXT-X-DISCONTINUITY-SEQUENCE must be a number before the first segment")
            }
            discontinuity = number
        case "EXT-X-MEDIA-SEQUENCE":
            guard let number = PlaylistNumber.unsigned(value.trimmingWhitespace), media.segments.isEmpty else {
                throw broken("EXT-X-MEDIA-SEQUENCE must be a number before the first segment")
            }
            sequence = number
        case "EXT-X-KEY": try key(attributes(value))
        case "EXT-X-MAP": try map(attributes(value))
        case "EXT-X-ENDLIST": media.isEnded = true
        case "EXT-X-STREAM-INF": try stream(attributes(value))
        case "EXT-X-MEDIA": try rendition(attributes(value))
        case "EXT-X-I-FRAMES-ONLY": throw .unsupportedPlaylist("only key frames (EXT-X-I-FRAMES-ONLY)")
        case "EXT-X-DEFINE": throw .unsupportedPlaylist("variables (EXT-X-DEFINE)")
        default: break
        }
    }

    private func attributes(_ value: Substring) throws(AttachPrepError) -> PlaylistAttributes {
        guard let attributes = PlaylistAttributes(value) else { throw broken("the attributes are malformed") }
        return attributes
    }

    private mutating func duration(_ value: Substring) throws(AttachPrepError) {
        let number = value.prefix { $0 != "," }.trimmingWhitespace
        guard let seconds = PlaylistNumber.decimal(number), seconds <= Limits.segmentSecondsMax else {
            // Lists of songs give -1 for an unknown duration.
            throw hasTags ? broken("the duration of EXTINF is invalid") : .audioPlaylist
        }
        self.seconds = seconds
    }

    /// "length" or "length@offset".
    private func byteRange(_ value: String) throws(AttachPrepError) -> (length: Int, offset: Int?) {
        let parts = value.split(separator: "@", omittingEmptySubsequences: false).map(\.trimmingWhitespace)
        let offset = parts.count == 2 ? PlaylistNumber.integer(parts[1]) : nil
        guard (1...2).contains(parts.count), let length = PlaylistNumber.integer(parts[0]), length > 0,
            parts.count == 1 || offset != nil
        else { throw broken("the byte range is invalid") }
        return (length, offset)
    }

    private mutating func key(_ attributes: PlaylistAttributes) throws(AttachPrepError) {
        guard let method = attributes.plain("METHOD") else { throw broken("EXT-X-KEY has no METHOD") }
        let format = attributes.quoted("KEYFORMAT") ?? "identity"
        switch method {
        case "NONE": keys = [:]
        case "AES-128" where format == "identity":
            guard let uri = attributes.quoted("URI") else { throw broken("EXT-X-KEY has no URI") }
            let vector = attributes.block("IV")
            guard vector != nil || attributes.plain("IV") == nil else { throw broken("the IV is not 128 bits") }
            keys[format] = .aes128(uri: uri, vector: vector)
        default: keys[format] = .unsupported(format == "identity" ? method : format)
        }
    }

    private var protection: SegmentProtection {
        keys["identity"] ?? keys.min { $0.key < $1.key }?.value ?? .none
    }

    private mutating func map(_ attributes: PlaylistAttributes) throws(AttachPrepError) {
        guard let uri = attributes.quoted("URI") else { throw broken("EXT-X-MAP has no URI") }
        var section = InitializationSection(uri: uri)
        if let text = attributes.quoted("BYTERANGE") {
            let (length, offset) = try byteRange(text)
            guard let range = ResourceRange(offset: offset ?? 0, length: length) else {
                throw broken("the byte range is invalid")
            }
            section.range = range
        }
        // An encrypted section needs an IV (RFC 8216, 4.3.2.5): it has no sequence number.
        switch protection {
        case .aes128(_, .some), .unsupported: section.protection = protection
        case .aes128(_, nil), .none: break
        }
        map = section
    }

    // MARK: Variants

    private mutating func stream(_ attributes: PlaylistAttributes) throws(AttachPrepError) {
        guard let bandwidth = attributes.integer("BANDWIDTH") else { throw broken("a variant has no BANDWIDTH") }
        var variant = PlaylistVariant(uri: "", bandwidth: bandwidth)
        variant.codecs = (attributes.quoted("CODECS") ?? "").split(separator: ",").map { String($0.trimmingWhitespace) }
        if let (width, height) = attributes.resolution("RESOLUTION") {
            (variant.width, variant.height) = (width, height)
        }
        variant.frameRate = attributes.decimal("FRAME-RATE")
        variant.audioGroup = attributes.quoted("AUDIO")
        self.variant = variant
    }

    private mutating func rendition(_ attributes: PlaylistAttributes) throws(AttachPrepError) {
        guard attributes.plain("TYPE") == "AUDIO" else { return }
        guard let group = attributes.quoted("GROUP-ID") else { throw broken("EXT-X-MEDIA has no GROUP-ID") }
        try count()
        master.audio.append(
            MasterPlaylist.HLSAudioRendition(
                group: group, uri: attributes.quoted("URI"), isDefault: attributes.plain("DEFAULT") == "YES",
                isAutomatic: attributes.plain("AUTOSELECT") == "YES"))
    }

    // MARK: Entries

    private mutating func count() throws(AttachPrepError) {
        entries = entries.adding(clamping: 1)
        guard entries <= Limits.playlistEntriesMax else { throw .playlistTooLong }
    }

    private mutating func entry(_ uri: String) throws(AttachPrepError) {
        try count()
        if var variant {
            variant.uri = uri
            master.variants.append(variant)
            self.variant = nil
            return
        }
        guard let seconds else {
            throw hasTags ? broken("an address has neither EXTINF nor EXT-X-STREAM-INF") : .audioPlaylist
        }
        var segment = PlaylistSegment(
            uri: uri, seconds: seconds, sequence: sequence, discontinuity: discontinuity, range: try takeRange(uri))
        (segment.map, segment.protection, segment.isGap) = (map, protection, isGap)
        media.segments.append(segment)
        guard let next = sequence.adding(exactly: 1) else { throw broken("the media sequence number is too large") }
        sequence = next
        (self.seconds, isGap) = (nil, false)
    }

    /// The range of the next segment; without an offset it follows the last one of the same resource.
    private mutating func takeRange(_ uri: String) throws(AttachPrepError) -> ResourceRange? {
        defer { self.range = nil }
        guard let range else {
            lastRange = nil
            return nil
        }
        guard let offset = range.offset ?? lastRange.flatMap({ $0.uri == uri ? $0.end : nil }),
            let whole = ResourceRange(offset: offset, length: range.length)
        else { throw broken("the byte range has no offset or is too large") }
        lastRange = (uri, whole.end)
        return whole
    }
}
