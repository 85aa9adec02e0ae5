import AttachPrepModel
import LibAV
import MediaEngine
import RichPush
import SafeArithmetic

/// Joins the segments of a playlist into an MP4. Packets are copied; nothing is decoded or encoded.
///
/// Segments between two discontinuities are a run, read as one file. The runs are put one after another: each begins
/// where the video of the run before it ends, whatever its own timestamps are.
struct SegmentJoin {
    private let request: JoinRequest
    private let files: [CInt]
    private let output: OutputFile
    private let deadline: ContinuousClock.Instant

    /// - Parameter descriptors: A file for each track, then the output.
    static func run(_ request: JoinRequest, descriptors: [CInt], deadline: ContinuousClock.Instant) throws
        -> JoinedMedia
    {
        guard (1...2).contains(request.tracks.count), let output = descriptors.last,
            descriptors.count == request.tracks.count.adding(clamping: 1)
        else { throw AttachPrepError(.internal, "The media process received the wrong number of files.") }
        return try SegmentJoin(
            request: request, files: descriptors.dropLast(), output: OutputFile(descriptor: output), deadline: deadline
        ).join()
    }

    private func join() throws -> JoinedMedia {
        let scans = try request.tracks[0].map { try RunScan(open($0, of: 0), number: $0.number, deadline) }
        let timeline = try JoinTimeline(scans, seconds: request.seconds, isTail: request.isTail)
        let file = MP4File(output: output, bytesMax: request.bytesMax, clock: WorkClock(deadline: deadline))
        var (end, omissions) = (0.0, timeline.omissions)
        do {
            let bytes = try file.write(rateController: { nil }) { muxer in
                end = try write(timeline, to: muxer, &omissions)
            }
            return JoinedMedia(bytes: bytes, duration: end, format: timeline.format, omissions: omissions)
        } catch MovieEncodeError.overLimit {
            throw AttachPrepError(
                .downloadTooLarge,
                "The segments are over the limit of \(request.bytesMax.grouped) bytes; request a shorter `clip`.")
        } catch MovieEncodeError.muxerFailed(let error) {
            throw error.attachPrepError(
                .mediaUnsupported, "The streams of the segments do not fit into an MP4; use another variant.")
        }
    }

    // MARK: Reading

    private func open(_ run: JoinRequest.Run, of track: Int) throws -> OpenRun {
        let parts = try run.parts.map { part in
            guard let key = part.key else { return FilePart(offset: part.offset, bytes: part.bytes) }
            guard request.keys.indices.contains(key), let vector = part.vector else {
                throw AttachPrepError(.internal, "The media process received no key for a segment.")
            }
            return FilePart(
                offset: part.offset, bytes: part.bytes, cipher: .init(key: request.keys[key], vector: vector))
        }
        do {
            let demuxer = try Demuxer.open(files[track], parts: parts, deadline: deadline, choose: Self.demuxer)
            guard Self.demuxers.contains(demuxer.name) else {
                throw LibAVError(code: 0, operation: "demuxer \(demuxer.name)")
            }
            try demuxer.findStreamInformation(pixelsMax: Limits.moviePixelsMax)
            return OpenRun(demuxer)
        } catch let error as LibAVError {
            let sentence =
                error.operation == "av_aes_crypt"
                ? "The key does not decrypt the segments of the playlist; check the key and its IV."
                : "The segments of the playlist are neither MPEG-TS nor fragmented MP4; check what the server sends."
            throw error.attachPrepError(.mediaCorrupt, sentence)
        }
    }

    /// The containers of segments (RFC 8216, 3): MPEG-TS, fragmented MP4, and audio packets.
    private static let demuxers: Set<String> = [
        "mpegts", "mov,mp4,m4a,3gp,3g2,mj2", "aac", "mp3", "ac3", "eac3",
    ]

    /// libav may take a transport stream for audio.
    private static func demuxer(_ first: [UInt8]) -> String? { first.first == 0x47 ? "mpegts" : nil }

    // MARK: Writing

    /// - Parameter omissions: Receives the audio that cannot continue that of the first run with audio.
    /// - Returns: The end of the last frame in seconds.
    private func write(
        _ timeline: JoinTimeline, to muxer: Muxer, _ omissions: inout [JoinedMedia.Omission]
    ) throws -> Double {
        var main: JoinedStream?
        var audio: (stream: JoinedStream, description: StreamDescription)?
        for (index, run) in timeline.runs.enumerated() {
            let (opened, other) = try openFiles(of: run)
            guard let stream = opened.main, run.scan.isContinued(by: stream) else { throw Self.segmentsChanged }
            var runAudio = Self.audio(of: opened, other)
            if index == 0 {
                main = JoinedStream(target: try muxer.addStream(copyingFrom: opened.demuxer, stream.index))
                if let (demuxer, found) = try firstAudio((opened, other), timeline.runs.dropFirst()) {
                    let target = try muxer.addStream(copyingFrom: demuxer, found.index)
                    audio = (JoinedStream(target: target), found)
                }
                try muxer.writeHeader()
            }
            if let found = runAudio, let audio, !audio.description.isContinued(by: found) {
                omissions.add(run.scan.seconds, of: found.format, isAudio: true)
                runAudio = nil
            }
            let feeds = [
                RunFeed(opened, main: stream, audio: other == nil ? runAudio : nil, run),
                other.flatMap { other in runAudio.map { RunFeed(other, main: nil, audio: $0, run) } },
            ].compactMap(\.self)
            try feed(feeds, timeline, main, audio?.stream, muxer)
        }
        return min(max(main?.end ?? 0, audio?.stream.end ?? 0), timeline.end ?? .infinity)
    }

    /// A run, and the file with its audio if that is another one.
    private typealias RunFiles = (main: OpenRun, audio: OpenRun?)

    private func openFiles(of run: JoinTimeline.Run) throws -> RunFiles {
        (try open(request.tracks[0][run.index], of: 0), try openAudioRun(run.scan.number))
    }

    /// The audio beside the video of a run.
    private static func audio(of opened: OpenRun, _ other: OpenRun?) -> StreamDescription? {
        if let other { return other.audio }
        return opened.main?.kind == .video ? opened.audio : nil
    }

    /// The audio whose format the movie has: of the first run that has audio.
    private func firstAudio(
        _ first: RunFiles, _ later: some Sequence<JoinTimeline.Run>
    ) throws -> (Demuxer, StreamDescription)? {
        let found = { (files: RunFiles) in
            Self.audio(of: files.main, files.audio).map { (files.audio?.demuxer ?? files.main.demuxer, $0) }
        }
        if let first = found(first) { return first }
        for run in later {
            if let next = found(try openFiles(of: run)) { return next }
        }
        return nil
    }

    private static let segmentsChanged = AttachPrepError(
        .mediaCorrupt, "The segments of the playlist changed while they were read; try again.")

    /// The audio of the second track that belongs to a run of the first.
    private func openAudioRun(_ number: Int) throws -> OpenRun? {
        guard request.tracks.count == 2, let run = request.tracks[1].first(where: { $0.number == number }) else {
            return nil
        }
        return try open(run, of: 1)
    }

    /// Writes the packets of one run, of two files in the order of their times.
    private func feed(
        _ feeds: [RunFeed], _ timeline: JoinTimeline, _ main: JoinedStream?, _ audio: JoinedStream?, _ muxer: Muxer
    ) throws {
        for feed in feeds { try feed.advance() }
        while let feed = feeds.filter({ !$0.isOver }).min(by: { $0.time < $1.time }) {
            try checkDeadline(deadline)
            if feed.isMain {
                if !(try main?.write(feed, until: timeline.end, to: muxer) ?? false) { feed.stopMain() }
            } else {
                _ = try audio?.write(feed, until: timeline.end, to: muxer)
            }
            try feed.advance()
        }
    }
}

/// An open run: its video, or its audio if it has none, and the audio beside the video.
struct OpenRun {
    let demuxer: Demuxer
    let main: StreamDescription?
    let audio: StreamDescription?

    init(_ demuxer: Demuxer) {
        self.demuxer = demuxer
        let streams = demuxer.streams
        let videos = streams.filter { $0.kind == .video && !$0.isAttachedPicture && $0.width > 0 }
        audio = streams.first { $0.kind == .audio && $0.isDecodable } ?? streams.first { $0.kind == .audio }
        main = videos.first { $0.isDecodable } ?? videos.first ?? audio
    }
}

/// Reads the packets of one file of a run, with their times in the joined movie.
final class RunFeed {
    private let demuxer: Demuxer
    private let main: StreamDescription?
    private let audio: StreamDescription?
    private let run: JoinTimeline.Run
    private var position = -1
    private var isMainOver = false
    private(set) var packet: Packet?
    private(set) var stream: StreamDescription?
    private(set) var isOver = false
    private var clock = 0.0

    init(_ opened: OpenRun, main: StreamDescription?, audio: StreamDescription?, _ run: JoinTimeline.Run) {
        demuxer = opened.demuxer
        (self.main, self.audio, self.run) = (main, audio, run)
        demuxer.discardStreams(except: Set([main?.index, audio?.index].compactMap(\.self)))
    }

    /// Whether the current packet belongs to the stream that decides the timeline.
    var isMain: Bool { stream?.index == main?.index && main != nil }
    /// Seconds in the joined movie, by decoding order.
    var time: Double { clock }
    /// Ticks of `stream` by which the current packet moves.
    var shift: Int64 { stream?.timeBase.nearestTick(run.shift) ?? 0 }

    /// Ends the main stream; audio continues up to its own end.
    func stopMain() {
        isMainOver = true
        if audio == nil { isOver = true }
    }

    /// Reads the next packet that is needed.
    func advance() throws {
        let next = try readingMedia { try Packet() }
        while !isOver {
            guard try demuxer.readLeniently(into: next) else { break }
            let found = [main, audio].compactMap(\.self).first { $0.index == next.streamIndex }
            guard let found, next.byteCount > 0 else { continue }
            let isMain = found.index == main?.index
            if isMain { position += 1 }
            guard let tick = next.decodingTimestamp ?? next.presentationTimestamp else { continue }
            // Bounded: floating point.
            clock = found.timeBase.seconds(tick) + run.shift
            if isMain, isMainOver || position < run.firstPacket { continue }
            // Frames before the first keyframe cannot be decoded.
            // Bounded: floating point.
            if let shown = next.presentationTimestamp, found.timeBase.seconds(shown) < run.origin - found.timeBase.tick
            {
                continue
            }
            (packet, stream) = (next, found)
            return
        }
        isOver = true
    }
}

/// Writes one stream of the joined movie.
final class JoinedStream {
    private let target: Int
    private var lastDecoding = -Double.infinity
    /// End of the latest sample in seconds.
    private(set) var end = 0.0

    init(target: Int) { self.target = target }

    /// Writes the current packet.
    ///
    /// - Returns: False when it begins at or after `limit` seconds.
    func write(_ feed: RunFeed, until limit: Double?, to muxer: Muxer) throws -> Bool {
        guard let packet = feed.packet, let stream = feed.stream else { return false }
        let base = stream.timeBase
        let decoded = packet.decodingTimestamp ?? packet.presentationTimestamp ?? 0
        var order = decoded.adding(clamping: feed.shift)
        var shown = (packet.presentationTimestamp ?? decoded).adding(clamping: feed.shift)
        // Bounded throughout: floating point.
        if let limit, base.seconds(stream.kind == .video ? order : shown) >= limit - base.tick { return false }
        // Audio of two runs overlaps by less than a frame, since its frames do not end where those of the video do.
        if stream.kind == .audio, base.seconds(shown) < end - base.seconds(packet.duration) / 2 - base.tick {
            return true
        }
        if base.seconds(order) <= lastDecoding { order = base.ticks(lastDecoding).adding(clamping: 1) }
        shown = max(shown, order)
        packet.decodingTimestamp = order
        packet.presentationTimestamp = shown
        lastDecoding = base.seconds(order)
        end = max(end, base.seconds(shown) + base.seconds(packet.duration))
        try muxer.write(packet, stream: target, timeBase: base)
        return true
    }
}
