import LibAV
import RichPush

/// Proves that a movie's pictures decode: its first group of pictures and its last, never all of it. Brings the frame
/// along that is to be shown.
final class PictureProof {
    private let decoder: Decoder
    private let budget: ProofBudget
    /// Frames of a group that are decoded; fewer the larger they are.
    private let framesMax: Int

    private var groups = 0
    /// The first group, kept back because the frame may stand in it.
    private var first: [Packet] = []
    private var firstIsLong = false
    private var previous: [Packet] = []
    private var current: [Packet] = []
    private var heldBytes = 0
    private var window: FrameWindow?
    /// The frame that was wanted, where it came along without a flaw.
    private(set) var found: Frame?

    /// - Parameter window: Where the frame is expected that is to be shown.
    init(_ stream: StreamDescription, of demuxer: Demuxer, budget: ProofBudget, window: FrameWindow? = nil) throws {
        let pixels = max(1, stream.width * stream.height)
        decoder = try Decoder.open(
            stream: stream.index, of: demuxer, threads: pixels >= 1280 * 720 ? 2 : 1, pixelsMax: Limits.moviePixelsMax)
        self.budget = budget
        self.window = window
        framesMax = min(Limits.soundnessFramesMax, max(8, Limits.soundnessPixelsMax / pixels))
    }

    /// Takes the stream's next packet.
    func take(_ packet: Packet) throws {
        if packet.byteCount == 0 { return }
        try window?.take(packet)
        if packet.isKeyframe { try beginGroup() }
        // What stands before the first keyframe belongs to a recording that began earlier.
        guard packet.isKeyframe || !current.isEmpty, current.count < framesMax * 2,
            heldBytes < Limits.soundnessBytesMax
        else { return }
        heldBytes += packet.byteCount
        current.append(try packet.reference())
    }

    /// Decodes what is left to be proved; to be called after the last packet.
    ///
    /// - Parameters:
    ///   - seconds: When the frame is shown that is wanted, of the movie's own timeline.
    ///   - needsSmoothReferences: Whether the pictures it leans on have to be as exact as itself.
    func finish(showing seconds: Double? = nil, needsSmoothReferences: Bool = true) throws {
        let wanted = try seconds.flatMap { try window?.run(toMovieTime: $0) }
            .flatMap { WantedFrame($0, needsSmoothReferences: needsSmoothReferences) }
        try proveLast(wanted)
        if !first.isEmpty {
            if try decode(first, isLong: firstIsLong, wanted).isDamaged { throw Self.damaged }
        }
        if let wanted, found == nil { try fetch(wanted) }
    }

    private static let damaged = AttachPrepError(
        .mediaCorrupt, "Pictures of the movie do not decode; send an intact file.")

    private func beginGroup() throws {
        if !current.isEmpty {
            if groups == 1 { try endFirst() }
            previous = current
            heldBytes = current.reduce(0) { $0 + $1.byteCount }
            current = []
        }
        groups += 1
    }

    /// Proves the first group, unless the frame may stand in it: then both are decoded at once, at the end.
    private func endFirst() throws {
        first = Array(current.prefix(framesMax / 2))
        firstIsLong = isLong(current)
        if window?.begins(with: first.first) == true { return }
        if try decode(first, isLong: firstIsLong).isDamaged { throw Self.damaged }
        first = []
    }

    /// Of a long group only those pictures are decoded that others need.
    private func isLong(_ group: [Packet]) -> Bool { group.count > framesMax }

    private func proveLast(_ wanted: WantedFrame?) throws {
        if current.isEmpty { return }
        let alone = try decode(current, isLong: isLong(current), wanted)
        let isComplete =
            alone.troubles == 0 && (alone.pictures >= current.count || isLong(current) && alone.pictures > 0)
        if isComplete { return }
        // One group is first and last; and what lies too far back cannot be proved, so it is not doubted.
        if groups < 2 || previous.count > framesMax * 2 - 1 {
            if alone.isDamaged { throw Self.damaged }
            return
        }
        let together = try GroupDecoding(decoder, budget: budget)
        try together.prove(dependable(previous), skipsNonReference: false)
        together.forget()
        try together.prove(current.prefix(framesMax * 2), skipsNonReference: false)
        if together.finish().isDamaged { throw Self.damaged }
    }

    /// Decodes a group, and on to the frame that is wanted if that leans on it. Pictures shown before its keyframe lean
    /// on the group before; they are left out.
    private func decode(
        _ group: [Packet], isLong: Bool, _ wanted: WantedFrame? = nil
    ) throws -> GroupDecoding.Outcome {
        let rest = wanted.flatMap { $0.packets(behind: group) }
        let decoding = try GroupDecoding(decoder, budget: budget, wanted: rest == nil ? nil : wanted)
        try decoding.prove(dependable(group).prefix(framesMax * 2), skipsNonReference: isLong)
        try decoding.reach(rest ?? [])
        let outcome = decoding.finish()
        if outcome.isFlawless { found = outcome.found ?? found }
        // What went further than the proof is no proof.
        return outcome.troubles > 0 && rest?.isEmpty == false ? try decode(group, isLong: isLong) : outcome
    }

    /// Decodes a frame that leans on a group of which nothing has to be proved.
    private func fetch(_ wanted: WantedFrame) throws {
        let decoding = try GroupDecoding(decoder, budget: budget, wanted: wanted)
        try decoding.reach(wanted.packets)
        let outcome = decoding.finish()
        if outcome.isFlawless { found = outcome.found }
    }

    /// The packets of a group that need no other group.
    private func dependable(_ group: [Packet]) -> [Packet] {
        guard let key = group.first?.presentationTimestamp else { return group }
        return group.filter { packet in packet.presentationTimestamp.map { $0 >= key } ?? true }
    }
}
