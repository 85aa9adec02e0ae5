import MediaLibraries
import MediaTypes

/// Which tracks of a movie are shown, as a player chooses them.
///
/// Only enabled tracks of an MP4 count, unless all are disabled. Of several, the one that is flagged as the default is
/// shown; of several of these, one with more than one frame before one with a single frame. A single image beside
/// another video is a cover, even where it is not declared as one.
struct TrackSelection {
    let video: StreamDescription?
    /// Enabled audio, the default track first.
    let audio: [StreamDescription]
    /// Whether all tracks of an MP4 are disabled.
    let areTracksDisabled: Bool
    /// Other videos that are not covers.
    let otherVideos: [StreamDescription]

    /// Codecs of covers.
    private static let imageCodecs: Set<String> = ["mjpeg", "png", "bmp", "gif", "webp"]

    /// - Parameter another: Opens the file again where frames must be counted; nil if the container has an index.
    init(_ demuxer: Demuxer, another: (() throws -> Demuxer)? = nil) throws {
        let tracks = demuxer.streams.filter { $0.kind != .other && !$0.isAttachedPicture }
        let hasFlags = OpenMovie.isISOBaseMedia(demuxer)
        let enabled = hasFlags ? tracks.filter(\.isDefault) : tracks
        areTracksDisabled = enabled.isEmpty && !tracks.isEmpty
        let shown = areTracksDisabled ? tracks : enabled
        let audible: [StreamDescription] = shown.filter { $0.kind == .audio }
        audio = audible.filter(\.isDefault) + audible.filter { !$0.isDefault }
        let videos = shown.filter { $0.kind == .video }
        guard videos.count > 1 else {
            (video, otherVideos) = (videos.first, [])
            return
        }
        let moving = try Self.moving(videos.map(\.index), demuxer: demuxer, another)
        let ranked = videos.sorted { Self.rank($0, moving: moving) < Self.rank($1, moving: moving) }
        video = ranked.first
        otherVideos = ranked.dropFirst().filter { moving.contains($0.index) }
    }

    /// Lower is shown first.
    private static func rank(_ stream: StreamDescription, moving: Set<Int>) -> (Int, Int, Int, Int, Int) {
        let isMoving = moving.contains(stream.index)
        let isCover = !isMoving && imageCodecs.contains(stream.codec)
        return (
            stream.isDecodable ? 0 : 1, isCover ? 1 : 0, stream.isDefault ? 0 : 1, isMoving ? 0 : 1, stream.index
        )
    }

    /// The streams with more than one frame.
    private static func moving(
        _ streams: [Int], demuxer: Demuxer, _ another: (() throws -> Demuxer)?
    ) throws -> Set<Int> {
        var moving = Set(streams.filter { demuxer.indexedSamples(stream: $0) > 1 })
        guard moving.count < streams.count, let demuxer = try another?() else { return moving }
        demuxer.discardStreams(except: Set(streams))
        var seen: Set<Int> = []
        let packet = try readingMedia { try Packet() }
        for _ in 0..<Limits.trackProbePackets where moving.count < streams.count {
            guard try demuxer.readLeniently(into: packet) else { break }
            guard streams.contains(packet.streamIndex), packet.byteCount > 0 else { continue }
            if !seen.insert(packet.streamIndex).inserted { moving.insert(packet.streamIndex) }
        }
        return moving
    }
}

extension Limits {
    /// Packets that are read to tell a video of several frames from a single image, where a file has several videos.
    static let trackProbePackets = 1_000
}
