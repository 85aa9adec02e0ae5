import LibAV
import RichPush
import SafeArithmetic

/// An AVIF's sequence by its index: its frames and their times, before anything is decoded.
struct AVIFSurvey {
    let demuxer: Demuxer
    let colour: StreamDescription
    /// The stream whose pictures are the alpha of the others.
    let alpha: StreamDescription?
    /// When each frame is shown, in ticks, sorted; and how long, in milliseconds.
    private(set) var times: [Int64] = []
    private(set) var delaysMilliseconds: [Int] = []
    let loopCount: Int

    var width: Int { colour.width }
    var height: Int { colour.height }

    /// Seconds of one play.
    var duration: Double { delaysMilliseconds.reduce(0.0) { $0 + Double(AnimationFrames.shown($1)) / 1000 } }

    /// Whether a file says that it is a sequence; one that only may be shown as such is a still.
    static func isSequence(_ window: ByteWindow) throws -> Bool {
        try window.characters(at: 8, count: 4) == "avis"
    }

    /// Reads every packet without decoding it.
    ///
    /// - Throws: `media.corrupt` when a sample lies outside the file, and over the limits of animations.
    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        let window = try ByteWindow(descriptor: descriptor, noun: "AVIF", deadline: deadline)
        loopCount = try AVIFLoops.count(window)
        let movie = try OpenMovie.open(descriptor, format: .avif, isRecognized: true, deadline: deadline)
        guard let colour = movie.video, colour.isDecodable else {
            throw AttachPrepError(.mediaUnsupported, "The AVIF has no sequence that we can decode; send a GIF.")
        }
        demuxer = movie.demuxer
        self.colour = colour
        alpha = movie.streams.first { stream in
            stream.kind == .video && stream.index != colour.index && stream.isDecodable
                && stream.pixelFormat?.name.hasPrefix("gray") == true
                && stream.width == colour.width && stream.height == colour.height
        }
        try readTimes(window, deadline: deadline)
        try PictureLimits.check(width: width, height: height, frames: times.count)
    }

    private mutating func readTimes(_ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        if let end = demuxer.indexedEnd(stream: colour.index), end > demuxer.fileBytes { throw window.cut }
        var samples: [(time: Int64, duration: Int64)] = []
        let packet = try Packet()
        while try readingMedia({ try demuxer.read(into: packet) }) {
            try checkDeadline(deadline)
            guard packet.streamIndex == colour.index, packet.byteCount > 0, !packet.isDiscarded else { continue }
            if packet.isCorrupt { throw window.cut }
            if samples.count == Limits.animationFramesMax { throw tooManyFrames("AVIF") }
            samples.append((packet.presentationTimestamp ?? packet.decodingTimestamp ?? 0, packet.duration))
        }
        samples.sort { $0.time < $1.time }
        if samples.isEmpty { throw window.broken("no frame") }
        times = samples.map(\.time)
        for (index, sample) in samples.enumerated() {
            let following = samples.dropFirst(index &+ 1).first
            let ticks = following?.time.subtracting(clamping: sample.time) ?? sample.duration
            // Bounded: floating point.
            let seconds = min(colour.timeBase.seconds(ticks), Limits.durationSecondsMax)
            delaysMilliseconds.append(Int(clamping: (seconds * 1000).rounded()))
        }
    }
}
