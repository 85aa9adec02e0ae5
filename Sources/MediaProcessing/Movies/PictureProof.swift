import LibAV
import RichPush
import SafeArithmetic

/// Proves that a movie's pictures decode, in a few places: its first keyframe, its last one, and the frame that is to
/// be shown with all that it leans on.
///
/// That is enough where each sample's units were walked (`SampleStructure`). Where they cannot be, and where a keyframe
/// alone does not tell, the first group of pictures and the last one are decoded, never all of the movie.
final class PictureProof {
    private let decoder: Decoder
    private let budget: ProofBudget
    private let structure: SampleStructure?
    /// Frames of a group that are decoded; fewer the larger they are.
    private let framesMax: Int
    /// Packets of a group that are held: of the last one, and of what it leans on.
    private var packetsMax: Int { framesMax.multiplied(clamping: 2) }

    private var groups = 0
    /// The first group, kept back because the frame may stand in it.
    private var first: [Packet] = []
    private var firstIsLong = false
    private var previous: [Packet] = []
    private var current: [Packet] = []
    private var heldBytes = 0

    private var window: FrameWindow?
    private let expected: ExpectedMoment?
    private var isForetold = false
    /// The frame that was wanted, where it came along without a flaw.
    private(set) var found: Frame?
    /// The keyframe that it leans on, which is proved by that.
    private var provedKey: Packet?

    /// When a frame is probably wanted.
    struct ExpectedMoment {
        /// Of the movie's own timeline, by what the header says of its length; nil where that does not tell.
        let seconds: Double?
        /// Where its packets are looked for.
        let window: FrameWindow
        /// Whether the pictures it leans on have to be as exact as itself.
        let needsSmoothReferences: Bool
    }

    /// - Parameter structure: What walked the stream's samples; nil where nothing can.
    init(
        _ stream: StreamDescription, of demuxer: Demuxer, structure: SampleStructure?, budget: ProofBudget,
        expecting expected: ExpectedMoment? = nil
    ) throws {
        let pixels = max(1, stream.width.multiplied(clamping: stream.height))
        // With two threads FFmpeg 5.1 copies a frame's error flags while the other thread may still set them: a damaged
        // file passed in five of six runs.
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: Limits.moviePixelsMax)
        self.structure = structure
        self.budget = budget
        self.expected = expected
        window = expected?.window
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
    }

    /// Decodes what is left to be proved; to be called after the last packet.
    ///
    /// - Parameter seconds: When the frame is shown that is wanted, of the movie's own timeline.
    func finish(showing seconds: Double? = nil) throws {
        let wanted = try wanted(at: seconds)
        if found?.presentationTimestamp != wanted?.tick {
            found = nil
            if let wanted { try fetch(wanted) }
        }
        if !first.isEmpty { try proveFirst() }
        try proveLast()
    }

    private static let damaged = AttachPrepError(
        .mediaCorrupt, "Pictures of the movie do not decode; send an intact file.")

    // MARK: While packets come

    /// Decodes the frame that is probably wanted once its packets are there: of a movie that still arrives, little is
    /// left to be done after the last byte.
    private func foresee() throws {
        guard !isForetold, let window, window.isDecided else { return }
        isForetold = true
        if let wanted = try wanted(at: expected?.seconds) { try fetch(wanted) }
    }

    private func wanted(at seconds: Double?) throws -> WantedFrame? {
        try seconds.flatMap { try window?.run(toMovieTime: $0) }.flatMap(WantedFrame.init)
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

    /// Proves the first group, unless the frame may stand in it and was not decoded yet.
    private func endFirst() throws {
        first = Array(current.prefix(framesMax / 2))
        firstIsLong = isLong(current)
        if window?.begins(with: first.first) != true || isForetold { try proveFirst() }
    }

    /// Of a long group only those pictures are decoded that others need.
    private func isLong(_ group: [Packet]) -> Bool { group.count > framesMax }

    // MARK: Decoding

    private func proveFirst() throws {
        defer { first = [] }
        if try decodesAlone(first.first) { return }
        if try decode(first, isLong: firstIsLong).isDamaged { throw Self.damaged }
    }

    private func proveLast() throws {
        if try current.isEmpty || decodesAlone(current.first) { return }
        let alone = try decode(current, isLong: isLong(current))
        let isComplete =
            alone.troubles == 0 && (alone.pictures >= current.count || isLong(current) && alone.pictures > 0)
        if isComplete { return }
        // One group is first and last; and what lies too far back cannot be proved, so it is not doubted.
        if groups < 2 || previous.count >= packetsMax {
            if alone.isDamaged { throw Self.damaged }
            return
        }
        let together = try GroupDecoding(decoder, budget: budget)
        try together.prove(dependable(previous), skipsNonReference: false)
        together.forget()
        try together.prove(current.prefix(packetsMax), skipsNonReference: false)
        if together.finish().isDamaged { throw Self.damaged }
    }

    /// Whether a keyframe is a whole picture without its group; never said of what was not walked.
    private func decodesAlone(_ key: Packet?) throws -> Bool {
        guard structure != nil, let key else { return false }
        if let provedKey, provedKey.isSame(as: key) { return true }
        let decoding = try GroupDecoding(decoder, budget: budget)
        try decoding.prove(CollectionOfOne(key), skipsNonReference: false)
        return decoding.finish().isFlawless
    }

    /// Decodes a group. Pictures shown before its keyframe lean on the group before; they are left out.
    private func decode(_ group: [Packet], isLong: Bool) throws -> GroupDecoding.Outcome {
        let decoding = try GroupDecoding(decoder, budget: budget)
        try decoding.prove(dependable(group).prefix(packetsMax), skipsNonReference: isLong)
        return decoding.finish()
    }

    /// Decodes a frame and what it leans on.
    private func fetch(_ wanted: WantedFrame) throws {
        let decoding = try GroupDecoding(
            decoder, budget: budget, wanted: wanted, isSmooth: expected?.needsSmoothReferences == true)
        try decoding.reach(wanted.packets)
        let outcome = decoding.finish()
        if outcome.isFlawless {
            found = outcome.found
            provedKey = wanted.packets.first
        } else if outcome.isDamaged, !budget.isHalfSpent, let structure,
            wanted.packets.first.map(structure.containsIDR) == true
        {
            throw Self.damaged
        }
    }

    /// The packets of a group that need no other group.
    private func dependable(_ group: [Packet]) -> [Packet] {
        guard let key = group.first else { return group }
        return group.filter { $0.isDependable(from: key) }
    }
}
