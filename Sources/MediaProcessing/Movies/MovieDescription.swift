import LibAV
import MediaEngine
import RichPush

extension OpenMovie {
    /// The contract's words for what was found.
    func describe(as format: MediaFormat, survey: MovieSurvey) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        media.duration = survey.duration
        media.audio = audio.map {
            AudioStream(codec: $0.codec, channels: $0.channels, sampleRate: $0.sampleRate, bitRate: $0.bitRate)
        }
        media.hasCoverArt = streams.contains { $0.isAttachedPicture }
        media.hasLocation = hasLocation
        media.hasMetadata = media.hasCoverArt || MovieTags.tellOfTheirMaker(tags)
        if let video {
            let geometry = DisplayGeometry(video)
            (media.width, media.height) = (geometry.width, geometry.height)
            media.orientation = geometry.orientation
            media.hasAlpha = video.pixelFormat?.hasAlpha ?? false
            media.video = VideoStream(video, geometry: geometry, survey: survey)
        }
        return media
    }

    /// QuickTime and 3GPP each have their own key.
    private var hasLocation: Bool {
        tags.contains { key in
            let name = key.lowercased()
            return name.hasPrefix("location") || name.hasPrefix("com.apple.quicktime.location")
        }
    }

    /// Names of all tags, of the file and of its streams.
    private var tags: [String] {
        Array(demuxer.metadata.keys) + streams.flatMap { Array($0.metadata.keys) }
    }
}

extension VideoStream {
    init(_ stream: StreamDescription, geometry: DisplayGeometry, survey: MovieSurvey) {
        self.init(
            codec: stream.codec, codecTag: stream.codecTag, storedWidth: stream.width, storedHeight: stream.height)
        profile = stream.profile
        pixelFormat = stream.pixelFormat?.name
        bitDepth = stream.pixelFormat?.bitDepth ?? 8
        isChroma420 = stream.pixelFormat?.isChroma420 ?? false
        sampleAspectRatio = geometry.sampleAspectRatio
        frameRate = stream.frameRate
        isHDR = stream.transfer != .standard || stream.hasDolbyVision
        guard let times = survey.times(of: stream) else { return }
        firstFrameTime = times.first
        lastFrameTime = times.last
    }
}
