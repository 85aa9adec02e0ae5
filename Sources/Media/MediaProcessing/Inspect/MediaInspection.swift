import AttachPrepModel
import MediaEngine
import MediaTypes
import SafeArithmetic

/// Inspects a file with the inspection for its kind.
enum MediaInspection {
    /// - Parameter others: The descriptors for the expected images and for the signals of a source that is downloading.
    static func inspect(
        _ request: InspectRequest, source: CInt, others: [CInt] = [], deadline: ContinuousClock.Instant
    ) throws -> (media: InspectedMedia, early: EarlyRender?) {
        let outputsCount = request.expected?.outputs.count ?? 0
        guard others.count == outputsCount + (request.downloadingBytes == nil ? 0 : 1) else {
            throw AttachPrepError(.internal, "The media process received the wrong number of files.")
        }
        let files = others.prefix(outputsCount).map(OutputFile.init)
        if let format = request.format, format.kind == .image {
            let inspection = ImageInspection(request: request, format: format, source: source, deadline: deadline)
            let media = try inspection.inspect().clamped
            let pixels = (media.width ?? 0).multiplied(clamping: media.height ?? 0)
            // A slow one is rendered by a call of its own, whose end at the deadline leaves an attachment to deliver.
            guard let expected = request.expected, !media.isAnimated, pixels <= Limits.earlyStillPixelsMax else {
                return (media, nil)
            }
            let render = expected.request(format: media.format, duration: nil)
            return (media, rendered(render, of: source, into: files, deadline: deadline) { try $0.render() })
        }
        let download = request.downloadingBytes.flatMap { total in
            others.last.map { DownloadingFile(signals: $0, total: total) }
        }
        var (media, frame) = try MovieInspection.inspect(
            descriptor: source, format: request.format, download: download, expecting: request.expected,
            deadline: deadline)
        media.duration = media.duration?.roundedToMicroseconds
        guard let frame, let expected = request.expected else { return (media.clamped, nil) }
        let render = expected.request(format: media.format, duration: media.duration)
        return (media.clamped, rendered(render, of: source, into: files, deadline: deadline) { try $0.render(frame) })
    }

    /// Nil for a thumbnail that cannot be written now: it is requested again later, and fails then.
    private static func rendered(
        _ render: RenderRequest, of source: CInt, into files: [OutputFile], deadline: ContinuousClock.Instant,
        by work: (ImageRenderer) throws -> RenderedMedia
    ) -> EarlyRender? {
        let outputs = Dictionary(uniqueKeysWithValues: zip(render.outputs, files))
        let clock = WorkClock(deadline: deadline)
        let media = try? work(ImageRenderer(request: render, source: source, outputs: outputs, clock: clock))
        return media.map { EarlyRender(request: render, media: $0) }
    }
}

extension Double {
    /// Rounds to microseconds: no container is more precise, and further digits are binary rounding noise.
    var roundedToMicroseconds: Double { (self * 1_000_000).rounded() / 1_000_000 }
}

extension InspectedMedia {
    /// Clamps values that a file can declare freely to the ranges that the parent accepts (`MediaQuantity`): the parent
    /// treats a value out of range as a failure of the media process.
    fileprivate var clamped: InspectedMedia {
        var media = self
        media.loopCount = media.loopCount.map(Self.count)
        media.frameDelaysMilliseconds = media.frameDelaysMilliseconds?.map(Self.count)
        media.duration = media.duration.map { Self.bounded(seconds: $0, from: 0) }
        media.damage?.declaredDuration = damage?.declaredDuration.map { Self.bounded(seconds: $0, from: 0) }
        if let video {
            media.video?.firstFrameTime = Self.bounded(seconds: video.firstFrameTime, from: -Self.secondsMax)
            media.video?.lastFrameTime = Self.bounded(seconds: video.lastFrameTime, from: -Self.secondsMax)
            media.video?.sampleAspectRatio = Self.ratio(video.sampleAspectRatio) ?? 1
            media.video?.frameRate = video.frameRate.flatMap(Self.ratio)
        }
        media.audio = audio.map { stream in
            var stream = stream
            (stream.channels, stream.sampleRate) = (Self.count(stream.channels), Self.count(stream.sampleRate))
            stream.bitRate = stream.bitRate.map(Self.count)
            return stream
        }
        return media
    }

    private static func count(_ value: Int) -> Int { max(0, min(value, 2_147_483_647)) }

    private static func bounded(seconds value: Double, from least: Double) -> Double {
        value.isNaN ? 0 : max(least, min(secondsMax, value))
    }

    /// Clamps a ratio; nil if it is negative or not a number.
    private static func ratio(_ value: Double) -> Double? { value >= 0 ? min(value, 1e9) : nil }
}

extension Limits {
    /// Pixels of a still whose thumbnail is made with its inspection: decoded in 0.1 s in any format.
    static let earlyStillPixelsMax = 4_000_000
}
