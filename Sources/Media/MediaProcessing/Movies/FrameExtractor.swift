import AttachPrepModel
package import MediaEngine
import MediaLibraries
package import MediaTypes
import SafeArithmetic

/// Extracts the frame that a movie shows at a given time.
package enum FrameExtractor {
    /// Decodes the last frame whose presentation time is not later than `seconds`; for an earlier time the first frame,
    /// past the end the last one.
    ///
    /// - Parameters:
    ///   - descriptor: A complete, seekable file; borrowed.
    ///   - seconds: Time on the movie's timeline, as in `InspectedMedia`.
    ///   - request: What is made of the frame: it may be reduced, to no less than twice what that needs. Nil for full
    ///     size.
    ///   - clock: After its aim the nearest frame before the wanted one is returned and marked as not exact.
    /// - Throws: `media.corrupt` when no frame decodes, `media.unsupported`, `media.too_many_pixels`,
    ///   `deadline.exceeded`.
    package static func decode(
        descriptor: CInt, format: MediaFormat?, at seconds: Double, for request: RenderRequest? = nil,
        clock: WorkClock
    ) throws -> DecodedFrame {
        for strategy in FrameSearch.Strategy.allCases {
            let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: clock.deadline)
            guard let stream = movie.video, stream.isDecodable else { throw unsupported }
            let pixels =
                request.map { FramePixels(stream: stream, for: $0) } ?? FramePixels(stream: stream, largestSide: nil)
            let search = FrameSearch(
                movie, stream, seconds: seconds, needsDeblockedReferences: pixels.needsDeblocking, time: clock)
            guard let found = try readingMedia({ try search.run(strategy) }) else { continue }
            return try readingMedia {
                try pixels.decodedFrame(of: found.frame, time: found.time, isExact: found.isExact)
            }
        }
        throw AttachPrepError(.mediaCorrupt, "No frame of the movie decodes; send an intact file.")
    }

    static let unsupported = AttachPrepError(
        .mediaUnsupported, "The movie has no video that can be decoded; send an MP4 with H.264.")
}

/// Searches for one frame: finds its keyframe, then decodes from there.
struct FrameSearch {
    /// How the keyframe is found, cheapest first.
    enum Strategy: CaseIterable {
        /// Seeks with the container's index.
        case seek
        /// Reads from the first packet and decodes nothing before the keyframe.
        case readFromStart
        /// Decodes everything from the first packet.
        case decodeAll
    }

    private let movie: OpenMovie
    private let stream: StreamDescription
    private let clock: FrameClock
    private let target: Int64
    private let time: WorkClock
    private let needsDeblockedReferences: Bool

    /// - Parameters:
    ///   - needsDeblockedReferences: Whether reference frames must be deblocked, so that the wanted frame is exact.
    ///   - time: After its aim the nearest decoded frame is returned; after its deadline the search throws.
    init(
        _ movie: OpenMovie, _ stream: StreamDescription, seconds: Double, needsDeblockedReferences: Bool = true,
        time: WorkClock
    ) {
        self.movie = movie
        self.stream = stream
        self.needsDeblockedReferences = needsDeblockedReferences
        self.time = time
        clock = FrameClock(movie, stream)
        target = clock.tick(ofMovieTime: seconds.isFinite ? seconds : seconds > 0 ? 1e9 : 0)
        movie.demuxer.discardStreams(except: [stream.index])
    }

    /// The frame, its time on the movie's timeline, and whether it is exactly the one shown at the wanted time; nil
    /// when the strategy does not find it.
    func run(_ strategy: Strategy) throws -> (frame: Frame, time: Double, isExact: Bool)? {
        guard let found = try find(strategy) else { return nil }
        return (found.frame, clock.movieTime(ofTick: found.tick), found.isExact)
    }

    private typealias Found = (frame: Frame, tick: Int64, isExact: Bool)

    private var isLate: Bool { time.secondsLeft <= 0 }

    private func find(_ strategy: Strategy) throws -> Found? {
        switch strategy {
        case .seek:
            let tick = target.subtracting(clamping: clock.seekMargin)
            guard hasIndex, try movie.demuxer.seek(stream: stream.index, backwardTo: tick) else { return nil }
            return try pick(from: gather(isFromStart: false))
        case .readFromStart: return try pick(from: gather(isFromStart: true))
        case .decodeAll: return try decodeOn()
        }
    }

    /// Old 4:4:4 x264 streams need their first packet, which holds the encoder version: without it a decoder outputs
    /// garbage.
    static func needsFirstPacket(_ stream: StreamDescription) -> Bool {
        guard stream.codec == "h264" else { return false }
        // Before a frame is decoded only `avcC` tells: profile 244 is High 4:4:4 Predictive.
        guard let format = stream.pixelFormat else { return stream.configuration.prefix(2) == [1, 244] }
        return format.name.hasPrefix("yuv444")
    }

    private var needsFirstPacket: Bool { Self.needsFirstPacket(stream) }

    private var hasIndex: Bool {
        !needsFirstPacket
            && ["mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "avi", "asf", "flv"].contains(movie.demuxer.name)
    }

    private func gather(isFromStart: Bool) throws -> PacketRun {
        var run = PacketRun(clock: clock, target: target, isFromStart: isFromStart)
        let packet = try Packet()
        while try next(packet) {
            if packet.streamIndex == stream.index, try !run.append(packet) { break }
        }
        return run
    }

    private func next(_ packet: Packet) throws -> Bool {
        try checkDeadline(time.deadline)
        return try movie.demuxer.read(into: packet)
    }

    private func pick(from run: PacketRun) throws -> Found? {
        if run.packets.isEmpty || run.isTooLong || needsFirstPacket && !run.isFromStart { return nil }
        if let wanted = run.wanted ?? run.earliest, let found = try decode(run, to: wanted) { return found }
        return try decode(run)
    }

    /// Two threads are faster for large frames with many frames before the wanted one (1.0 instead of 1.3 s for 240
    /// frames of 1080p); with fewer they gain nothing, and take 3 % more processor time.
    private func threads(_ packets: Int) -> Int {
        packets > 100 && stream.width.multiplied(clamping: stream.height) >= 1280 * 720 ? 2 : 1
    }

    /// Decodes to the frame with exactly that time and skips frames that no other frame refers to; when time runs
    /// short, returns the nearest earlier frame.
    private func decode(_ run: PacketRun, to wanted: Int64) throws -> Found? {
        let decoder = try Decoder.open(
            stream: stream.index, of: movie.demuxer, threads: threads(run.packets.count),
            pixelsMax: Limits.moviePixelsMax)
        let output = FrameOutput(decoder)
        let end = run.packets.lastIndex { $0.presentationTimestamp == wanted } ?? run.packets.endIndex - 1
        var recovery = SeekRecovery(keyframeTime: run.keyframeTime, codec: stream.codec)
        var nearest: Found?
        for (index, packet) in (run.packets[...end].map(Optional.some) + [nil]).enumerated() {
            if index == 0 { try checkDeadline(time.deadline) }
            // When late, drain the decoder now; the keyframe is sent in any case.
            let packet = index > 0 && isLate ? nil : packet
            if let packet {
                let isWanted = packet.presentationTimestamp == wanted
                decoder.skipsNonReference = !isWanted
                decoder.skipsLoopFilter = !isWanted && !needsDeblockedReferences
            }
            try output.feed(packet) { frame in
                guard recovery.allows(frame, isDrained: packet == nil), let tick = frame.presentationTimestamp,
                    tick <= wanted, tick > nearest?.tick ?? .min
                else { return true }
                nearest = (frame, tick, tick == wanted)
                return tick != wanted
            }
            if nearest?.isExact == true || packet == nil { break }
        }
        return nearest?.isExact == true || isLate ? nearest : nil
    }

    /// Decodes all packets of a run, for streams without presentation times.
    private func decode(_ run: PacketRun) throws -> Found? {
        let decoder = try Decoder.open(stream: stream.index, of: movie.demuxer, pixelsMax: Limits.moviePixelsMax)
        var choice = FrameChoice(
            clock: clock, target: target, isFromStart: run.isFromStart,
            recovery: SeekRecovery(keyframeTime: run.keyframeTime, codec: stream.codec))
        let output = FrameOutput(decoder)
        var isCut = false
        for (index, packet) in (run.packets.map(Optional.some) + [nil]).enumerated() {
            try checkDeadline(time.deadline)
            isCut = index > 0 && isLate && packet != nil
            let packet = isCut ? nil : packet
            try output.feed(packet) { choice.consider($0, isDrained: packet == nil) }
            if choice.isMade || packet == nil { break }
        }
        return choice.found.map { ($0.frame, $0.tick, choice.isMade || !isCut) }
    }

    private func decodeOn() throws -> Found? {
        let decoder = try Decoder.open(stream: stream.index, of: movie.demuxer, pixelsMax: Limits.moviePixelsMax)
        var choice = FrameChoice(clock: clock, target: target, isFromStart: true, recovery: .unconditional)
        let output = FrameOutput(decoder)
        let packet = try Packet()
        var isCut = false
        while !choice.isMade, !isCut, try next(packet) {
            guard packet.streamIndex == stream.index, packet.byteCount > 0 else { continue }
            try output.feed(packet) { choice.consider($0, isDrained: false) }
            isCut = isLate
        }
        if !choice.isMade { try output.feed(nil) { choice.consider($0, isDrained: true) } }
        return choice.found.map { ($0.frame, $0.tick, choice.isMade || !isCut) }
    }
}

/// Chooses among frames in presentation order: the last one that is not later than the target.
struct FrameChoice {
    private let clock: FrameClock
    private let target: Int64
    private let isFromStart: Bool
    private var recovery: SeekRecovery
    private var previous: Int64?

    private(set) var found: (frame: Frame, tick: Int64)?
    /// Whether a later frame was seen, which makes the choice final.
    private(set) var isMade = false

    init(clock: FrameClock, target: Int64, isFromStart: Bool, recovery: SeekRecovery) {
        self.clock = clock
        self.target = target
        self.isFromStart = isFromStart
        self.recovery = recovery
    }

    /// Examines the next frame; returns false once the choice is final.
    mutating func consider(_ frame: Frame, isDrained: Bool) -> Bool {
        let tick = clock.presentation(frame, after: previous)
        previous = tick
        if !recovery.allows(frame, isDrained: isDrained) { return true }
        if tick <= target {
            found = (frame, tick)
            return true
        }
        if found == nil, isFromStart { found = (frame, tick) }
        isMade = true
        return false
    }
}

/// Decides whether frames after a seek are valid output.
///
/// Frames shown before the keyframe depend on frames that were not decoded. Where the keyframe is not intra-coded but
/// begins a gradual refresh, libav marks frames as corrupt until the refresh is complete; frames that it outputs only
/// when drained are not marked.
struct SeekRecovery {
    private let keyframeTime: Int64?
    private let isRefreshed: Bool
    private var isRecovered = false

    /// - Parameters:
    ///   - keyframeTime: Presentation time of the keyframe in ticks; nil if unknown.
    ///   - codec: libavcodec's codec name. Only H.264 has gradual refresh; in other codecs a predicted keyframe is
    ///     invalid, whatever the container declares.
    init(keyframeTime: Int64?, codec: String) {
        self.keyframeTime = keyframeTime
        isRefreshed = codec == "h264"
    }

    /// Accepts every frame.
    static var unconditional: SeekRecovery {
        var recovery = SeekRecovery(keyframeTime: nil, codec: "")
        recovery.isRecovered = true
        return recovery
    }

    /// - Parameter isDrained: Whether the frame came out while draining.
    mutating func allows(_ frame: Frame, isDrained: Bool) -> Bool {
        if let keyframeTime, let time = frame.presentationTimestamp, time < keyframeTime { return false }
        isRecovered = isRecovered || !frame.isPredicted || isRefreshed && !isDrained && !frame.isUnrecovered
        return isRecovered
    }
}

/// Passes a decoder's frames to a closure.
struct FrameOutput {
    /// Consecutive errors without a frame after which a decoder is treated as stuck.
    private static let failuresMax = 64

    private let decoder: Decoder

    init(_ decoder: Decoder) { self.decoder = decoder }

    /// Sends a packet, or nil to drain, and passes each decoded frame to `use` until it returns false. A packet that
    /// does not decode is skipped.
    func feed(_ packet: Packet?, use: (Frame) -> Bool) throws {
        do { _ = try decoder.send(packet) } catch { if error.isOutOfMemory { throw error } }
        var failures = 0
        while failures < Self.failuresMax {
            let frame = try Frame()
            do {
                if try decoder.receive(into: frame) != .frame { return }
                if !use(frame) { return }
            } catch {
                if error.isOutOfMemory { throw error }
                failures += 1
            }
        }
    }
}

/// Converts a decoded frame to sRGB pixels, reduced early where only a small image is needed.
struct FramePixels {
    private let stream: StreamDescription
    private let geometry: DisplayGeometry
    private let largestSide: Int?

    /// Reduction from which missing deblocking in reference frames is invisible: 1080p for a thumbnail of 512 pixels.
    /// The thumbnail differs by 41 to 46 dB from that of the exact frame, about as much as by JPEG compression; by
    /// 39 dB where x264's CRF is 40.
    private static let hidingReduction = 3.75

    /// - Parameter largestSide: Maximum longer side in pixels; nil for full size.
    init(stream: StreamDescription, largestSide: Int?) {
        self.stream = stream
        self.largestSide = largestSide
        geometry = DisplayGeometry(stream)
    }

    /// - Parameter request: What is made of the frame; twice the pixels that it needs are kept.
    init(stream: StreamDescription, for request: RenderRequest) {
        let geometry = DisplayGeometry(stream)
        let size = DecodedSize(request, imageWidth: geometry.width, imageHeight: geometry.height)
        self.init(stream: stream, largestSide: size.longSide.map { $0.multiplied(clamping: 2) })
    }

    /// Whether missing deblocking in reference frames would be visible.
    var needsDeblocking: Bool {
        guard let largestSide else { return true }
        let longest = max(Double(stream.width) * geometry.sampleAspectRatio, Double(stream.height))
        return longest * 2 < Double(largestSide) * Self.hidingReduction
    }

    /// - Parameter time: Seconds on the movie's timeline.
    func decodedFrame(of frame: Frame, time: Double, isExact: Bool = true) throws -> DecodedFrame {
        let (width, height) = size(of: frame)
        let transfer = frame.transfer == .standard ? stream.transfer : frame.transfer
        let isHDR = transfer != .standard && frame.pixelFormat?.isRGB == false
        let hasAlpha = !isHDR && frame.pixelFormat?.hasAlpha == true
        let layout: FrameScaler.Layout = isHDR ? .rgb16 : hasAlpha ? .rgba8 : .rgb8
        let pixels = try FrameScaler.pixels(of: frame, width: width, height: height, layout: layout)
        return DecodedFrame(
            width: width, height: height, bands: hasAlpha ? 4 : 3,
            bytes: isHDR ? ToneMap(transfer).sRGB(ofRGB16: pixels) : pixels,
            orientation: geometry.orientation, sampleAspectRatio: geometry.sampleAspectRatio, time: time,
            isExact: isExact)
    }

    private func size(of frame: Frame) -> (width: Int, height: Int) {
        let longest = max(Double(frame.width) * geometry.sampleAspectRatio, Double(frame.height))
        guard let largestSide, longest > Double(largestSide) else { return (frame.width, frame.height) }
        let scale = Double(largestSide) / longest
        func shrunk(_ side: Int) -> Int { max(1, Int(clamping: (Double(side) * scale).rounded())) }
        return (shrunk(frame.width), shrunk(frame.height))
    }
}
