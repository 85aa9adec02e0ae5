import LibAV
import RichPush

/// Proves that a movie's pictures decode: its first group of pictures and its last, never all of it.
final class PictureProof {
    /// Calls that may fail in a row before a decoder counts as stuck.
    private static let failuresMax = 16

    private let decoder: Decoder
    private let budget: ProofBudget
    /// Frames of a group that are decoded; fewer the larger they are.
    private let framesMax: Int

    private var groups = 0
    private var previous: [Packet] = []
    private var current: [Packet] = []
    private var heldBytes = 0
    private let frame: Frame

    init(_ stream: StreamDescription, of demuxer: Demuxer, budget: ProofBudget) throws {
        let pixels = max(1, stream.width * stream.height)
        decoder = try Decoder.open(
            stream: stream.index, of: demuxer, threads: pixels >= 1280 * 720 ? 2 : 1, pixelsMax: Limits.moviePixelsMax)
        frame = try Frame()
        self.budget = budget
        framesMax = min(Limits.soundnessFramesMax, max(8, Limits.soundnessPixelsMax / pixels))
        // The bits are what is to be proved.
        decoder.skipsLoopFilter = true
    }

    /// Takes the stream's next packet.
    func take(_ packet: Packet) throws {
        if packet.byteCount == 0 { return }
        if packet.isKeyframe { try beginGroup() }
        // What stands before the first keyframe belongs to a recording that began earlier.
        guard packet.isKeyframe || !current.isEmpty, current.count < framesMax * 2,
            heldBytes < Limits.soundnessBytesMax
        else { return }
        heldBytes += packet.byteCount
        current.append(try packet.reference())
    }

    /// Decodes what is left to be proved; to be called after the last packet.
    func finish() throws {
        if current.isEmpty { return }
        let alone = try decode(current)
        if alone.isComplete { return }
        // One group is first and last; and what lies too far back cannot be proved, so it is not doubted.
        if groups < 2 || previous.count > framesMax * 2 - 1 {
            if alone.isDamaged { throw Self.damaged }
            return
        }
        let together = try decode(current, after: previous)
        if together.isDamaged { throw Self.damaged }
    }

    private static let damaged = AttachPrepError(
        .mediaCorrupt, "Pictures of the movie do not decode; send an intact file.")

    private func beginGroup() throws {
        if !current.isEmpty {
            if groups == 1 {
                let first = try decode(Array(current.prefix(framesMax / 2)))
                if first.isDamaged { throw Self.damaged }
            }
            previous = current
            heldBytes = current.reduce(0) { $0 + $1.byteCount }
            current = []
        }
        groups += 1
    }

    /// What came out of a group of pictures.
    private struct Outcome {
        var pictures = 0
        var troubles = 0
        /// Whether every packet gave its picture.
        var isComplete = false
        /// Whether the first picture of all leans on others; nil before it came.
        var isBaseless: Bool?

        var isDamaged: Bool { pictures == 0 || troubles > 0 && isBaseless != true }
    }

    /// Decodes a group. Pictures shown before its keyframe lean on the group before; alone, they are left out.
    private func decode(_ group: [Packet], after preceding: [Packet] = []) throws -> Outcome {
        defer { decoder.flush() }
        decoder.skipsNonReference = preceding.isEmpty && group.count > framesMax
        var outcome = Outcome()
        for packet in dependable(preceding) { try feed(packet, into: &outcome) }
        (outcome.pictures, outcome.troubles) = (0, 0)
        let sent = preceding.isEmpty ? dependable(group) : group
        for packet in sent.prefix(framesMax * 2) { try feed(packet, into: &outcome) }
        try feed(nil, into: &outcome)
        outcome.isComplete =
            outcome.troubles == 0
            && (outcome.pictures >= group.count || decoder.skipsNonReference && outcome.pictures > 0)
        return outcome
    }

    /// The packets of a group that need no other group.
    private func dependable(_ group: [Packet]) -> [Packet] {
        guard let key = group.first?.presentationTimestamp else { return group }
        return group.filter { packet in packet.presentationTimestamp.map { $0 >= key } ?? true }
    }

    /// Sends one packet, or nil for the end, and takes what comes out.
    private func feed(_ packet: Packet?, into outcome: inout Outcome) throws {
        try budget.check()
        do { _ = try decoder.send(packet) } catch { outcome.troubles += 1 }
        var failures = 0
        while failures < Self.failuresMax {
            do {
                if try decoder.receive(into: frame) != .frame { return }
                // A keyframe that is none, whatever the container says: nothing can be proved from it.
                outcome.isBaseless = outcome.isBaseless ?? frame.isPredicted
                outcome.pictures += 1
                if frame.isConcealed { outcome.troubles += 1 }
            } catch {
                failures += 1
                outcome.troubles += 1
            }
        }
    }
}
