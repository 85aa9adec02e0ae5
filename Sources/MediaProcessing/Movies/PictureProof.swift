import LibAV
import RichPush
import SafeArithmetic

/// Proves that a movie's pictures decode: its first group of pictures and its last, never all of it. Brings the frame
/// along that is to be shown.
///
/// What an index in front promises is worked on as it comes; what is not foretold, or turns out otherwise, at the end.
final class PictureProof {
    private let decoder: Decoder
    private let budget: ProofBudget
    /// Frames of a group that are decoded; fewer the larger they are.
    private let framesMax: Int
    /// Packets of a group that are held: of the last one, and of what it leans on.
    private var packetsMax: Int { framesMax.multiplied(clamping: 2) }
    private let indexed: IndexedGroups

    private var groups = 0
    /// The first group, kept back because the frame may stand in it.
    private var first: [Packet] = []
    private var firstIsLong = false
    private var previous: [Packet] = []
    private var current: [Packet] = []
    private var heldBytes = 0
    private var ahead: GroupAhead?

    private var window: FrameWindow?
    private let expected: ExpectedMoment?
    private var foretold: WantedFrame?
    private var isForetold = false
    /// The frame that was wanted, where it came along without a flaw.
    private(set) var found: Frame?

    /// When a frame is probably wanted.
    struct ExpectedMoment {
        /// Of the movie's own timeline, by what the header says of its length; nil where that does not tell.
        let seconds: Double?
        /// Where its packets are looked for.
        let window: FrameWindow
        /// Whether the pictures it leans on have to be as exact as itself.
        let needsSmoothReferences: Bool
    }

    init(
        _ stream: StreamDescription, of demuxer: Demuxer, budget: ProofBudget, expecting expected: ExpectedMoment? = nil
    ) throws {
        let pixels = max(1, stream.width.multiplied(clamping: stream.height))
        decoder = try Decoder.open(
            stream: stream.index, of: demuxer, threads: pixels >= 1280 * 720 ? 2 : 1, pixelsMax: Limits.moviePixelsMax)
        self.budget = budget
        self.expected = expected
        window = expected?.window
        indexed = IndexedGroups(stream, of: demuxer)
        // Bounded: at least one pixel.
        framesMax = min(Limits.soundnessFramesMax, max(8, Limits.soundnessPixelsMax / pixels))
    }

    /// Takes the stream's next packet.
    func take(_ packet: Packet) throws {
        if packet.byteCount == 0 { return }
        try window?.take(packet)
        try foresee()
        if packet.isKeyframe { try beginGroup() }
        // What stands before the first keyframe belongs to a recording that began earlier.
        guard packet.isKeyframe || !current.isEmpty, current.count < packetsMax,
            heldBytes < Limits.soundnessBytesMax
        else { return }
        heldBytes = heldBytes.adding(clamping: packet.byteCount)
        current.append(try packet.reference())
        if packet.isKeyframe { ahead = try goAhead() }
        try ahead?.advance(in: current) { window?.begins(with: current.first) == true && window?.mayHold($0) == true }
    }

    /// Decodes what is left to be proved; to be called after the last packet.
    ///
    /// - Parameter seconds: When the frame is shown that is wanted, of the movie's own timeline.
    func finish(showing seconds: Double? = nil) throws {
        let wanted = try seconds.flatMap { try window?.run(toMovieTime: $0) }.flatMap(WantedFrame.init)
        try proveLast(wanted)
        if !first.isEmpty {
            if try decode(first, isLong: firstIsLong, wanted).isDamaged { throw Self.damaged }
        }
        if found?.presentationTimestamp == wanted?.tick { return }
        found = nil
        if let wanted { try fetch(wanted) }
    }

    private static let damaged = AttachPrepError(
        .mediaCorrupt, "Pictures of the movie do not decode; send an intact file.")

    // MARK: While packets come

    /// Finds out which frame is probably wanted, once its packets are there, and takes it if no group is under way.
    private func foresee() throws {
        guard !isForetold, let window, window.isDecided else { return }
        isForetold = true
        foretold = try expected?.seconds.flatMap { try window.run(toMovieTime: $0) }.flatMap(WantedFrame.init)
        if let ahead {
            ahead.decide(foretold.flatMap { $0.packets(behind: current) == nil ? nil : $0 })
        } else if let foretold, current.first.flatMap(indexed.packets) != nil, !window.begins(with: first.first) {
            // Neither the first group nor the last, so nothing else would decode it.
            try fetch(foretold)
        }
    }

    private func beginGroup() throws {
        if !current.isEmpty {
            if groups == 1 { try endFirst() }
            previous = current
            heldBytes = current.reduce(0) { $0.adding(clamping: $1.byteCount) }
            current = []
        }
        groups += 1
    }

    /// Begins with a group that is proved, if it is known how long it will be.
    private func goAhead() throws -> GroupAhead? {
        if ahead != nil { decoder.flush() }
        guard let key = current.first, let packets = indexed.packets(from: key) else { return nil }
        let isLast = indexed.isLast(key)
        guard isLast || groups == 1 else { return nil }
        let holdsFrame = window?.begins(with: key) == true
        let decoding = try GroupDecoding(
            decoder, budget: budget, isSmooth: holdsFrame && expected?.needsSmoothReferences == true)
        let ahead = GroupAhead(
            decoding, key: key, packetsMax: isLast ? packetsMax : framesMax / 2,
            skipsNonReference: packets > framesMax)
        if !holdsFrame || isForetold { ahead.decide(nil) }
        return ahead
    }

    /// Proves the first group, unless the frame may stand in it and is not known: then both are decoded at the end.
    private func endFirst() throws {
        first = Array(current.prefix(framesMax / 2))
        firstIsLong = isLong(current)
        if window?.begins(with: first.first) == true, !isForetold { return }
        if try decode(first, isLong: firstIsLong, foretold).isDamaged { throw Self.damaged }
        first = []
    }

    /// Of a long group only those pictures are decoded that others need.
    private func isLong(_ group: [Packet]) -> Bool { group.count > framesMax }

    // MARK: Decoding

    private func proveLast(_ wanted: WantedFrame?) throws {
        if current.isEmpty { return }
        let alone = try decode(current, isLong: isLong(current), wanted)
        let isComplete =
            alone.troubles == 0 && (alone.pictures >= current.count || isLong(current) && alone.pictures > 0)
        if isComplete { return }
        // One group is first and last; and what lies too far back cannot be proved, so it is not doubted.
        if groups < 2 || previous.count >= packetsMax {
            if alone.isDamaged { throw Self.damaged }
            return
        }
        let together = try begin(nil)
        try together.prove(dependable(previous), skipsNonReference: false)
        together.forget()
        try together.prove(current.prefix(packetsMax), skipsNonReference: false)
        if together.finish().isDamaged { throw Self.damaged }
    }

    /// Decodes a group, and on to the frame that is wanted if that leans on it. Pictures shown before its keyframe lean
    /// on the group before; they are left out.
    private func decode(
        _ group: [Packet], isLong: Bool, _ wanted: WantedFrame? = nil
    ) throws -> GroupDecoding.Outcome {
        let rest = wanted.flatMap { $0.packets(behind: group) }
        let here = rest == nil ? nil : wanted
        let ahead = ahead.flatMap { $0.serves(group, isLong: isLong, here) ? $0 : nil }
        let decoding = try ahead?.decoding ?? begin(here)
        self.ahead = nil
        try decoding.prove(
            dependable(group).prefix(packetsMax).dropFirst(done(by: ahead, in: group)), skipsNonReference: isLong)
        try decoding.reach(rest ?? [])
        let outcome = decoding.finish()
        if outcome.isFlawless { found = outcome.found ?? found }
        // What went further than the proof is no proof.
        return outcome.troubles > 0 && rest?.isEmpty == false ? try decode(group, isLong: isLong) : outcome
    }

    private func done(by ahead: GroupAhead?, in group: [Packet]) -> Int {
        ahead.map { dependable(Array(group.prefix($0.count))).count } ?? 0
    }

    /// Begins anew, whatever was under way.
    private func begin(_ wanted: WantedFrame?) throws -> GroupDecoding {
        if ahead != nil { decoder.flush() }
        ahead = nil
        return try GroupDecoding(
            decoder, budget: budget, wanted: wanted,
            isSmooth: wanted != nil && expected?.needsSmoothReferences == true)
    }

    /// Decodes a frame that leans on a group of which nothing has to be proved.
    private func fetch(_ wanted: WantedFrame) throws {
        let decoding = try begin(wanted)
        try decoding.reach(wanted.packets)
        let outcome = decoding.finish()
        if outcome.isFlawless { found = outcome.found }
    }

    /// The packets of a group that need no other group.
    private func dependable(_ group: [Packet]) -> [Packet] {
        guard let key = group.first else { return group }
        return group.filter { $0.isDependable(from: key) }
    }
}
