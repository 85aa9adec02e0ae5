import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Verifies that a movie's video decodes at selected points: the first keyframe, the last one, and the wanted frame
/// with all frames it depends on.
///
/// This is sufficient where the structure of each sample is checked by `NALUnitValidator`. Otherwise, or where a
/// keyframe alone is not conclusive, the first and the last group of pictures are decoded, never the whole movie.
final class FrameValidator {
    private let stream: Int
    private let demuxer: Demuxer
    /// Decodes keyframes and groups of pictures; `fetch` has its own.
    private let decoder: Decoder
    private let timer: ValidationTimer
    private let structure: NALUnitValidator?
    /// Maximum number of frames decoded per group; fewer for larger frames.
    private let framesMax: Int
    /// Maximum number of packets held per group: the last group and the one it depends on.
    private var packetsMax: Int { framesMax.multiplied(clamping: 2) }

    private var groups = 0
    /// The first group, held until it is known whether it contains the wanted frame.
    private var first: [Packet] = []
    private var firstIsLong = false
    private var previous: [Packet] = []
    private var current: [Packet] = []
    private var heldBytes = 0

    private var window: FrameWindow?
    private let expected: ExpectedTime?
    private var didFetchExpected = false
    /// The decode of the wanted frame in progress.
    private var fetch: FrameFetch?
    /// The decoder of the last completed fetch.
    private var fetchDecoder: Decoder?
    /// The wanted frame, if it was decoded without errors.
    private(set) var found: Frame?
    /// The keyframe of the wanted frame's group; decoding the frame has already validated it.
    private var validatedKeyframe: Packet?

    /// The expected time of the wanted frame.
    struct ExpectedTime {
        /// Seconds on the movie's timeline, derived from the declared duration; nil if that is unknown.
        let seconds: Double?
        /// Holds the packets around the wanted frame.
        let window: FrameWindow
        /// Whether reference frames must be deblocked, so that the wanted frame is exact.
        let needsDeblockedReferences: Bool
    }

    /// - Parameter structure: Checks the structure of the stream's samples; nil if the codec or container has none.
    init(
        _ stream: StreamDescription, of demuxer: Demuxer, structure: NALUnitValidator?, timer: ValidationTimer,
        expecting expected: ExpectedTime? = nil
    ) throws {
        let pixels = max(1, stream.width.multiplied(clamping: stream.height))
        self.stream = stream.index
        self.demuxer = demuxer
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: Limits.moviePixelsMax)
        self.structure = structure
        self.timer = timer
        self.expected = expected
        window = expected?.window
        framesMax = min(Limits.validationFramesMax, max(8, Limits.validationPixelsMax / pixels))
    }

    /// A decoder that has decoded some of the stream, if any has.
    var usedDecoder: Decoder { decoder.hasDecoded ? decoder : fetchDecoder ?? decoder }

    /// Processes the stream's next packet.
    func consume(_ packet: Packet) throws {
        if packet.byteCount == 0 { return }
        try window?.append(packet)
        try fetchExpected()
        if packet.isKeyframe { try beginGroup() }
        // Packets before the first keyframe depend on frames that are not in the file.
        guard packet.isKeyframe || !current.isEmpty, current.count < packetsMax,
            heldBytes < Limits.validationBytesMax
        else { return }
        heldBytes = heldBytes.adding(clamping: packet.byteCount)
        current.append(try packet.reference())
    }

    /// Decodes what is not validated yet; call it after the last packet.
    ///
    /// - Parameter seconds: Presentation time of the wanted frame on the movie's timeline.
    func finish(showing seconds: Double? = nil) throws {
        if isHidden(current), groups > 1 {
            dropHidden()
            (current, previous) = (previous, [])
        }
        let wanted = try wanted(at: seconds)
        if fetch?.tick != wanted?.tick {
            try endFetch()
            found = nil
            if let wanted { try beginFetch(wanted) }
        }
        // Meanwhile the last keyframe is validated, unless the fetch does that.
        let isLastApart = fetch.map { !$0.begins(with: current.first) } ?? true
        if isLastApart { try validateLast() }
        try endFetch()
        if !first.isEmpty { try validateFirst() }
        if !isLastApart { try validateLast() }
    }

    private static let damaged = AttachPrepError(
        .mediaCorrupt, "The movie's video does not decode; send an intact file.")

    // MARK: While packets arrive

    /// Begins to decode the wanted frame as soon as its packets are available, so that little work remains after the
    /// last byte of a movie that is downloading.
    private func fetchExpected() throws {
        guard !didFetchExpected, let window, window.isDecided else { return }
        didFetchExpected = true
        if let wanted = try wanted(at: expected?.seconds) { try beginFetch(wanted) }
    }

    private func wanted(at seconds: Double?) throws -> WantedFrame? {
        try seconds.flatMap { try window?.run(toMovieTime: $0) }.flatMap(WantedFrame.init)
    }

    private func beginGroup() throws {
        if isHidden(current) {
            dropHidden()
        } else if !current.isEmpty {
            if groups == 1 { try endFirst() }
            previous = current
            heldBytes = current.reduce(0) { $0.adding(clamping: $1.byteCount) }
            current = []
        }
        groups += 1
    }

    /// Validates the first group, unless the decode of the wanted frame does that.
    private func endFirst() throws {
        first = Array(current.prefix(framesMax / 2))
        firstIsLong = isLong(current)
        let isFetched = window?.begins(with: first.first) == true && (!didFetchExpected || fetch != nil)
        if !isFetched { try validateFirst() }
    }

    /// Whether an edit list hides all frames of a group, so that decoding it gives none.
    private func isHidden(_ group: [Packet]) -> Bool { !group.isEmpty && group.allSatisfy(\.isDiscarded) }

    private func dropHidden() {
        groups = max(0, groups.subtracting(clamping: 1))
        heldBytes = previous.reduce(0) { $0.adding(clamping: $1.byteCount) }
        current = []
    }

    /// Whether only the reference frames of a group are decoded, because it is too long.
    private func isLong(_ group: [Packet]) -> Bool { group.count > framesMax }

    // MARK: Decoding

    private func validateFirst() throws {
        defer { first = [] }
        if try decodesAlone(first.first) { return }
        if try decode(first, isLong: firstIsLong).isDamaged { throw Self.damaged }
    }

    private func validateLast() throws {
        if try current.isEmpty || decodesAlone(current.first) { return }
        let alone = try decode(current, isLong: isLong(current))
        let isComplete =
            alone.errorCount == 0 && (alone.frameCount >= current.count || isLong(current) && alone.frameCount > 0)
        if isComplete { return }
        // A single group is both first and last. A group that starts too far back cannot be validated and is accepted.
        if groups < 2 || previous.count >= packetsMax {
            if alone.isDamaged { throw Self.damaged }
            return
        }
        let together = try GOPDecoder(decoder)
        try together.validate(decodable(previous), skipsNonReference: false, timer: timer)
        together.resetCounts()
        try together.validate(current.prefix(packetsMax), skipsNonReference: false, timer: timer)
        if together.finish().isDamaged { throw Self.damaged }
    }

    /// Whether a keyframe decodes without errors by itself; false where the sample structure is not checked.
    private func decodesAlone(_ key: Packet?) throws -> Bool {
        guard structure != nil, let key else { return false }
        if let validatedKeyframe, validatedKeyframe.isSame(as: key) { return true }
        let decoding = try GOPDecoder(decoder)
        try decoding.validate(CollectionOfOne(key), skipsNonReference: false, timer: timer)
        return decoding.finish().isFlawless
    }

    /// Decodes a group. Frames shown before its keyframe depend on the previous group and are skipped.
    private func decode(_ group: [Packet], isLong: Bool) throws -> GOPDecoder.DecodeResult {
        let decoding = try GOPDecoder(decoder)
        try decoding.validate(decodable(group).prefix(packetsMax), skipsNonReference: isLong, timer: timer)
        return decoding.finish()
    }

    private func beginFetch(_ wanted: WantedFrame) throws {
        fetch = try FrameFetch(
            wanted, decoder: Decoder.open(stream: stream, of: demuxer, pixelsMax: Limits.moviePixelsMax),
            isDeblocked: expected?.needsDeblockedReferences == true, deadline: timer.halfEnd)
    }

    /// Waits for the wanted frame.
    private func endFetch() throws {
        guard let fetch else { return }
        self.fetch = nil
        let outcome: FrameFetch.Outcome
        (outcome, fetchDecoder) = try fetch.wait()
        if outcome.decoded.isFlawless {
            found = outcome.decoded.found
            validatedKeyframe = fetch.keyframe
        } else if outcome.decoded.isDamaged, outcome.isComplete, let structure,
            fetch.keyframe.map(structure.containsIDR) == true
        {
            throw Self.damaged
        }
    }

    /// The packets of a group that depend on no other group.
    private func decodable(_ group: [Packet]) -> [Packet] {
        guard let key = group.first else { return group }
        return group.filter { $0.isDecodable(from: key) }
    }
}

/// Decodes one group of pictures and counts its frames and errors.
final class GOPDecoder {
    /// Consecutive errors after which a decoder is treated as stuck.
    private static let failuresMax = 16

    /// Result of decoding a group of pictures.
    struct DecodeResult {
        var frameCount = 0
        var errorCount = 0
        /// Whether the first decoded frame depends on others; nil before it arrives.
        var startsWithPredictedFrame: Bool?
        /// The wanted frame, if it was decoded.
        var found: Frame?

        var isDamaged: Bool { frameCount == 0 || errorCount > 0 && startsWithPredictedFrame != true }
        /// Whether frames were decoded, without errors, and starting with an intra-coded frame.
        var isFlawless: Bool { frameCount > 0 && errorCount == 0 && startsWithPredictedFrame == false }
    }

    private let decoder: Decoder
    /// The frame to keep.
    private let wanted: WantedFrame?
    private let frame: Frame
    private(set) var result = DecodeResult()

    /// - Parameter isDeblocked: Whether the frames before the wanted one are deblocked.
    init(_ decoder: Decoder, wanted: WantedFrame? = nil, isDeblocked: Bool = false) throws {
        self.decoder = decoder
        self.wanted = wanted
        frame = try Frame()
        // Validation concerns the bitstream, so the loop filter can be skipped.
        decoder.skipsLoopFilter = !isDeblocked
    }

    /// Decodes packets for validation.
    ///
    /// - Parameter skipsNonReference: Whether frames that no other frame refers to are skipped.
    func validate(
        _ packets: some Sequence<Packet>, skipsNonReference: Bool, timer: ValidationTimer
    ) throws {
        for packet in packets {
            try timer.check()
            send(packet, skipsNonReference: skipsNonReference)
        }
    }

    /// Decodes up to the wanted frame without validation.
    ///
    /// - Returns: Whether all packets were decoded before `isOver` returned true.
    func decodeReferences(_ packets: some Sequence<Packet>, until isOver: () -> Bool) -> Bool {
        for packet in packets {
            if isOver() { return false }
            send(packet, skipsNonReference: true)
        }
        return true
    }

    /// Resets the frame and error counts; the decoder state and `startsWithPredictedFrame` are kept.
    func resetCounts() { (result.frameCount, result.errorCount) = (0, 0) }

    /// Drains and resets the decoder.
    func finish() -> DecodeResult {
        defer { decoder.flush() }
        feed(nil)
        return result
    }

    private func send(_ packet: Packet, skipsNonReference: Bool) {
        let isWanted = wanted.map { packet.presentationTimestamp == $0.tick } ?? false
        decoder.skipsNonReference = skipsNonReference && !isWanted
        if isWanted { decoder.skipsLoopFilter = false }
        feed(packet)
        if isWanted { decoder.skipsLoopFilter = true }
    }

    /// Sends one packet, or nil to drain, and receives the decoded frames.
    private func feed(_ packet: Packet?) {
        do { _ = try decoder.send(packet) } catch { result.errorCount += 1 }
        var failures = 0
        while failures < Self.failuresMax {
            do {
                if try decoder.receive(into: frame) != .frame { return }
                try recordFrame()
            } catch {
                failures += 1
                result.errorCount += 1
            }
        }
    }

    private func recordFrame() throws(LibAVError) {
        // If the first frame is predicted, the container's keyframe flag is wrong, and errors prove nothing.
        result.startsWithPredictedFrame = result.startsWithPredictedFrame ?? frame.isPredicted
        result.frameCount += 1
        if frame.isConcealed { result.errorCount += 1 }
        guard let wanted, frame.presentationTimestamp == wanted.tick else { return }
        let found = try Frame()
        found.moveReference(from: frame)
        result.found = found
    }
}

/// The frame that an expected thumbnail shows.
struct ExpectedFrame {
    let thumbnail: ExpectedThumbnail

    init(_ thumbnail: ExpectedThumbnail) { self.thumbnail = thumbnail }

    /// Its expected time, as far as the header tells; nil for movies whose frames have to be searched for.
    func expectedTime(in movie: OpenMovie, _ stream: StreamDescription) -> FrameValidator.ExpectedTime? {
        FrameWindow(movie, stream, seconds: thumbnail.seconds).map { window in
            FrameValidator.ExpectedTime(
                seconds: movie.demuxer.expectedDuration.flatMap { seconds(duration: $0) }, window: window,
                needsDeblockedReferences: pixels(of: stream).needsDeblocking)
        }
    }

    /// Its time in seconds; nil past the end, where another time will be requested.
    func seconds(duration: Double) -> Double? {
        guard let seconds = thumbnail.seconds else { return duration / 2 }
        return seconds <= duration ? seconds : nil
    }

    func pixels(of stream: StreamDescription) -> FramePixels {
        FramePixels(stream: stream, for: thumbnail.request(format: .mpeg4, duration: nil))
    }

    /// The decoded frame as an image, if inspection produced it.
    func decodedFrame(_ packetInspection: PacketInspection, movie: OpenMovie) -> DecodedFrame? {
        guard let stream = movie.video, let early = packetInspection.early else { return nil }
        return try? pixels(of: stream).decodedFrame(of: early.frame, time: early.time)
    }
}

/// The time that decoding may spend on validation.
final class ValidationTimer {
    private struct ValidationTimeoutError: Error {}

    private let seconds: Double
    private var spentSeconds = 0.0
    private var start = ContinuousClock.now
    /// Whether validation was left incomplete because its time was spent.
    private(set) var isSpent = false

    init(seconds: Double) { self.seconds = seconds }

    convenience init(_ clock: WorkClock) {
        let share = clock.share(Limits.validationTimeShare)
        self.init(seconds: share.start.duration(to: share.deadline) / .seconds(1))
    }

    /// Runs a part of the validation, unless the time is spent.
    func spend(_ body: () throws -> Void) throws {
        if isSpent { return }
        start = .now
        defer { spentSeconds += start.duration(to: .now) / .seconds(1) }
        do { try body() } catch is ValidationTimeoutError { isSpent = true }
    }

    /// Aborts the current part of the validation once the time is spent.
    func check() throws {
        if secondsSpent > seconds { throw ValidationTimeoutError() }
    }

    /// When half of the time will be spent if all goes on being spent: the rest is reserved for validation.
    var halfEnd: ContinuousClock.Instant {
        .now + .seconds(seconds / 2 - secondsSpent)
    }

    private var secondsSpent: Double { spentSeconds + start.duration(to: .now) / .seconds(1) }
}

extension Limits {
    /// Pixels decoded to validate the first or last group of pictures: 0.5 s of work for libav.
    static let validationPixelsMax = 300_000_000
    /// Frames decoded to validate a group of pictures, however small they are: encoders default to 250.
    static let validationFramesMax = 300
    /// Encoded bytes of groups of pictures kept until the last one is known.
    static let validationBytesMax = 64_000_000
    /// Share of the time left that validation of a movie or audio file may take; after it, validation stays incomplete.
    static let validationTimeShare = 0.4
}
