/// Requests one movie from the segments of a playlist. Streams are copied, never encoded.
public struct JoinRequest: Codable, Sendable, Hashable {
    /// A part of a source file: a segment or an initialization section.
    public struct Part: Codable, Sendable, Hashable {
        public var offset: Int
        public var bytes: Int
        /// Index in `keys`; nil when it is not encrypted.
        public var key: Int?
        /// The initialization vector, 16 bytes; nil when it is not encrypted.
        public var vector: [UInt8]?

        public init(offset: Int, bytes: Int) {
            self.offset = offset
            self.bytes = bytes
        }
    }

    /// Parts whose timestamps continue: an initialization section, if there is one, then segments.
    public struct Run: Codable, Sendable, Hashable {
        /// Runs of different tracks with the same number share a timeline.
        public var number: Int
        public var parts: [Part]

        public init(number: Int, parts: [Part]) {
            self.number = number
            self.parts = parts
        }
    }

    /// The runs of each source file: the first has the video, a second one the audio that belongs to it.
    public var tracks: [[Run]]
    /// AES-128 keys of 16 bytes.
    public var keys: [[UInt8]]
    /// Seconds to keep.
    public var seconds: Double
    /// Whether the last seconds are kept instead of the first.
    public var isTail: Bool
    /// The size limit of the movie in bytes.
    public var bytesMax: Int

    public init(tracks: [[Run]], keys: [[UInt8]] = [], seconds: Double, isTail: Bool, bytesMax: Int) {
        self.tracks = tracks
        self.keys = keys
        self.seconds = seconds
        self.isTail = isTail
        self.bytesMax = bytesMax
    }
}

/// The movie that was joined.
public struct JoinedMedia: Codable, Sendable, Hashable {
    /// Segments that were left out because one track cannot continue with their format.
    public struct Omission: Codable, Sendable, Hashable {
        public var seconds: Double
        /// Codec and size of their video, or codec and sample rate of their audio, for people.
        public var format: String
        /// Whether only their audio was left out.
        public var isAudio: Bool

        public init(seconds: Double, format: String, isAudio: Bool) {
            self.seconds = seconds
            self.format = format
            self.isAudio = isAudio
        }
    }

    public var bytes: Int
    /// In seconds.
    public var duration: Double
    /// The format of the video, or of the audio without video, for people.
    public var format: String
    /// By format, in the order of the playlist.
    public var omissions: [Omission]

    public init(bytes: Int, duration: Double, format: String, omissions: [Omission] = []) {
        self.bytes = bytes
        self.duration = duration
        self.format = format
        self.omissions = omissions
    }
}

extension MediaEngine {
    /// Joins the segments of a playlist into an MP4.
    ///
    /// - Parameters:
    ///   - sources: The file of each track, open for reading.
    ///   - output: An empty file, open for reading and writing.
    public func join(
        _ request: JoinRequest, sources: [CInt], output: CInt, deadline: ContinuousClock.Instant
    ) async throws -> JoinedMedia {
        precondition(sources.count == request.tracks.count, "each track has a file")
        let answer = try await perform(.join(request), descriptors: sources + [output], deadline: deadline)
        guard case .joined(let media) = answer else { throw wrongAnswer("join") }
        return media
    }
}
