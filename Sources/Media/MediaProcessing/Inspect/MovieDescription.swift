import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// What the packets of a movie tell about it.
extension OpenMovie {
    /// Drops a video stream without frames if there is audio.
    mutating func dropEmptyVideo(_ packetInspection: PacketInspection) {
        if let stream = video, !packetInspection.holds(stream), audio.contains(where: packetInspection.holds) {
            dropVideo()
        }
    }

    /// Whether the video stream has samples, or any audio stream if there is no video.
    func holdsSamples(_ packetInspection: PacketInspection) -> Bool {
        video.map(packetInspection.holds) ?? audio.contains(where: packetInspection.holds)
    }

    /// A defect of the tracks that a copy or an encoding removes.
    func defect(_ packetInspection: PacketInspection) -> ContainerDefect? {
        if areTracksDisabled { return .tracksDisabled }
        if !demuxer.appliesEdits { return .editWithoutEnd }
        return switch packetInspection.parameterSets?.status {
        case .changing: .parameterSetsChange
        // Other containers store the parameter sets in the samples.
        case .incomplete where isISOBaseMedia: .parameterSetsMissing
        default: nil
        }
    }

    /// Converts the findings to the contract's description.
    func describe(as format: MediaFormat, packetInspection: PacketInspection) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        media.duration = packetInspection.duration
        media.audio = audio.map {
            var stream = AudioStream(
                codec: $0.codec, channels: $0.channels, sampleRate: $0.sampleRate, bitRate: $0.bitRate)
            stream.profile = $0.profile
            return stream
        }
        media.hasCoverArt = streams.contains { $0.isAttachedPicture }
        media.hasLocation = hasLocation
        media.hasMetadata = media.hasCoverArt || MovieTags.containPersonalData(tags)
        if let video {
            let geometry = DisplayGeometry(video)
            (media.width, media.height) = (geometry.width, geometry.height)
            media.orientation = geometry.orientation
            media.hasAlpha = video.pixelFormat?.hasAlpha ?? false
            media.video = VideoStream(video, geometry: geometry, packetInspection: packetInspection)
        }
        return media
    }

    /// Whether a tag holds a location; QuickTime and 3GPP use different keys.
    private var hasLocation: Bool {
        tags.contains { key in
            let name = key.lowercased()
            return name.hasPrefix("location") || name.hasPrefix("com.apple.quicktime.location")
        }
    }

    /// Names of all tags of the file and its streams.
    private var tags: [String] {
        Array(demuxer.metadata.keys) + streams.flatMap { Array($0.metadata.keys) }
    }
}

extension VideoStream {
    init(_ stream: StreamDescription, geometry: DisplayGeometry, packetInspection: PacketInspection) {
        self.init(
            codec: stream.codec, codecTag: stream.codecTag, storedWidth: stream.width, storedHeight: stream.height)
        profile = stream.profile
        pixelFormat = stream.pixelFormat?.name
        bitDepth = stream.pixelFormat?.bitDepth ?? 8
        isChroma420 = stream.pixelFormat?.isChroma420 ?? false
        sampleAspectRatio = geometry.sampleAspectRatio
        frameRate = stream.frameRate
        isHDR = stream.transfer != .standard || stream.hasDolbyVision
        guard let times = packetInspection.times(of: stream) else { return }
        firstFrameTime = times.first
        lastFrameTime = times.last
    }
}

/// Classifies the tags of movies and audio files.
enum MovieTags {
    /// Tags about the container and its writer; libav's names in lowercase.
    private static let technical: Set<String> = [
        "major_brand", "minor_version", "compatible_brands", "encoder", "handler_name", "vendor_id", "language",
        "duration", "isvbr", "wmfsdkversion", "wmfsdkneeded", "deviceconformancetemplate", "timecode", "rotate",
        "hasvideo", "hasaudio", "hasmetadata", "haskeyframes", "canseektoend", "software", "variant_bitrate",
        "id3v2_priv",
    ]
    private static let technicalPrefixes = ["_statistics", "bps", "number_of_", "source_id", "replaygain", "r128_"]

    /// Whether one of the tags describes a place, device, person or work.
    static func containPersonalData(_ names: [String]) -> Bool {
        names.contains { name in
            let name = name.lowercased()
            return !technical.contains(name) && !technicalPrefixes.contains { name.hasPrefix($0) }
        }
    }
}
