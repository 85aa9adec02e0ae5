import LibAV

/// A movie's pictures, decoded, shaped and encoded.
final class EncodedPictureTrack: MovieTrack {
    let source: Int
    let writer: PictureWriter
    private let scan: MovieScan
    private let frames: MovieFrames
    private let shaper: FrameShaper
    private let watch: PassWatch
    private let cut: Double
    private var thinning: FrameThinning
    private var lastTime = 0.0

    private(set) var isOver = false
    /// Whether time ended it before the movie's end.
    private(set) var isStopped = false

    init(
        _ movie: OpenMovie, _ source: MovieSource, _ choice: MovieChoice, sample: Frame, steering: QualitySteering,
        watch: PassWatch, ledger: SoundLedger, muxer: Muxer
    ) throws {
        scan = source.scan
        self.source = scan.video.index
        self.watch = watch
        cut = choice.cut ?? .infinity
        frames = try MovieFrames(movie, scan)
        frames.haste = choice.haste
        shaper = try source.shaper(like: sample, shape: choice.shape)
        thinning = FrameThinning(frameRateMax: choice.frameRateMax)
        let settings = VideoEncoderSettings(
            width: choice.shape.width, height: choice.shape.height,
            frameRate: min(choice.frameRateMax ?? scan.frameRate, 240), preset: choice.preset,
            quality: steering.quality, colours: shaper.colours)
        writer = try PictureWriter(
            settings, steering: steering, weights: ShareOfWeight(scan.weights(), end: cut), ledger: ledger,
            muxer: muxer)
    }

    func take(_ packet: Packet) throws {
        try frames.feed(packet) { frame, time in try self.consider(frame, time) }
    }

    func finish() throws {
        if !isOver { try frames.feed(nil) { frame, time in try self.consider(frame, time) } }
        // Bounded: floating point.
        let usual = lastTime + scan.interval
        let end = isStopped ? usual : max(usual, min(scan.end, cut))
        try writer.finish(at: min(end, max(cut, lastTime + 0.001)))
    }

    private func consider(_ frame: Frame, _ time: Double) throws {
        if isOver || time < -scan.interval / 2 { return }
        if time >= cut {
            isOver = true
            return
        }
        guard thinning.keeps(time) else { return }
        try writer.write(shaper.apply(frame), at: max(0, time))
        lastTime = max(0, time)
        switch watch.look(at: writer, time: time) {
        case .fine: break
        case .behind(let slowness): throw MovieFailure.behind(slowness)
        case .late:
            isOver = true
            isStopped = true
        }
    }
}
