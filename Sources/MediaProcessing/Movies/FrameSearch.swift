import LibAV
import RichPush
import SafeArithmetic

/// The way to one frame: to its keyframe, then through the decoder to the frame itself.
struct FrameSearch {
    /// How the keyframe is found, the cheapest first.
    enum Way: CaseIterable {
        /// By the container's own index.
        case index
        /// By reading on from the first packet, a matter of input alone: nothing is decoded before the keyframe.
        case reading
        /// Not at all: everything is decoded from the very first packet.
        case everything
    }

    private let movie: OpenMovie
    private let stream: StreamDescription
    private let clock: FrameClock
    private let target: Int64
    private let time: WorkClock
    private let needsSmoothReferences: Bool

    /// - Parameters:
    ///   - needsSmoothReferences: Whether the pictures before it have to be as exact as itself.
    ///   - time: Past its aim the nearest frame that was decoded is taken; past its deadline nothing is.
    init(
        _ movie: OpenMovie, _ stream: StreamDescription, seconds: Double, needsSmoothReferences: Bool = true,
        time: WorkClock
    ) {
        self.movie = movie
        self.stream = stream
        self.needsSmoothReferences = needsSmoothReferences
        self.time = time
        clock = FrameClock(movie, stream)
        target = clock.tick(ofMovieTime: seconds.isFinite ? seconds : seconds > 0 ? 1e9 : 0)
        movie.demuxer.discardStreams(except: [stream.index])
    }

    /// The frame, its time in the movie's timeline, and whether it is the one that is shown at the wanted time, not
    /// one before it; nil when this way does not lead to it.
    func run(_ way: Way) throws -> (frame: Frame, time: Double, isExact: Bool)? {
        guard let found = try find(way) else { return nil }
        return (found.frame, clock.movieTime(ofTick: found.tick), found.isExact)
    }

    private typealias Found = (frame: Frame, tick: Int64, isExact: Bool)

    private var isLate: Bool { time.secondsLeft <= 0 }

    private func find(_ way: Way) throws -> Found? {
        switch way {
        case .index:
            let tick = target.subtracting(clamping: clock.seekMargin)
            guard hasIndex, try movie.demuxer.seek(stream: stream.index, backwardTo: tick) else { return nil }
            return try pick(from: gather(isFromStart: false))
        case .reading: return try pick(from: gather(isFromStart: true))
        case .everything: return try decodeOn()
        }
    }

    /// Old 4:4:4 x264 streams need their first packet, which says how they were written: a decoder that has not seen
    /// it makes garbage of the rest.
    static func needsFirstPacket(_ stream: StreamDescription) -> Bool {
        stream.codec == "h264" && stream.pixelFormat?.name.hasPrefix("yuv444") == true
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
            if packet.streamIndex == stream.index, try !run.take(packet) { break }
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

    /// Two threads pay where a picture has many pixels and many pictures stand before it.
    private func threads(_ packets: Int) -> Int {
        packets > 8 && stream.width.multiplied(clamping: stream.height) >= 1280 * 720 ? 2 : 1
    }

    /// Decodes to the picture with that very time, leaving out what no other picture needs; when time runs short, to
    /// the nearest one before it that is there.
    private func decode(_ run: PacketRun, to wanted: Int64) throws -> Found? {
        let decoder = try Decoder.open(
            stream: stream.index, of: movie.demuxer, threads: threads(run.packets.count),
            pixelsMax: Limits.moviePixelsMax)
        let output = FrameOutput(decoder)
        // Bounded: a run has packets, as `pick` has looked.
        let end = run.packets.lastIndex { $0.presentationTimestamp == wanted } ?? run.packets.endIndex - 1
        var trust = FrameTrust(leader: run.leader, codec: stream.codec)
        var nearest: Found?
        for (index, packet) in (run.packets[...end].map(Optional.some) + [nil]).enumerated() {
            if index == 0 { try checkDeadline(time.deadline) }
            // Late, what the decoder holds back is asked for at once; the keyframe it gets in any case.
            let packet = index > 0 && isLate ? nil : packet
            if let packet {
                let isWanted = packet.presentationTimestamp == wanted
                decoder.skipsNonReference = !isWanted
                decoder.skipsLoopFilter = !isWanted && !needsSmoothReferences
            }
            try output.feed(packet) { frame in
                guard trust.allows(frame, isDrained: packet == nil), let tick = frame.presentationTimestamp,
                    tick <= wanted, tick > nearest?.tick ?? .min
                else { return true }
                nearest = (frame, tick, tick == wanted)
                return tick != wanted
            }
            if nearest?.isExact == true || packet == nil { break }
        }
        return nearest?.isExact == true || isLate ? nearest : nil
    }

    /// Decodes everything of a run, for streams whose packets do not say when their pictures are shown.
    private func decode(_ run: PacketRun) throws -> Found? {
        let decoder = try Decoder.open(stream: stream.index, of: movie.demuxer, pixelsMax: Limits.moviePixelsMax)
        var choice = FrameChoice(
            clock: clock, target: target, isFromStart: run.isFromStart,
            trust: FrameTrust(leader: run.leader, codec: stream.codec))
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
        var choice = FrameChoice(clock: clock, target: target, isFromStart: true, trust: .unconditional)
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
