import LibAV
import RichPush

/// Proves that a movie's pictures decode: its first group of pictures and its last, never all of it.
final class PictureProof {
    private let decoder: Decoder
    private let stream: StreamDescription
    private let deadline: ContinuousClock.Instant
    /// Frames of a group that are decoded; fewer the larger they are.
    private let framesMax: Int

    private var groups = 0
    private var previous: [Packet] = []
    private var current: [Packet] = []
    private var heldBytes = 0
    private let frame: Frame

    init(_ stream: StreamDescription, of demuxer: Demuxer, deadline: ContinuousClock.Instant) throws {
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: Limits.moviePixelsMax)
        frame = try Frame()
        self.stream = stream
        self.deadline = deadline
        let pixels = max(1, stream.width * stream.height)
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
        // One group is first and last.
        guard try decode(current) else { return }
        if groups < 2 { throw Self.damaged }
        if try decode(current, after: previous) { throw Self.damaged }
    }

    private static let damaged = AttachPrepError(
        .mediaCorrupt, "Pictures of the movie do not decode; send an intact file.")

    private func beginGroup() throws {
        if !current.isEmpty {
            if groups == 1, try decode(current) { throw Self.damaged }
            previous = current
            heldBytes = current.reduce(0) { $0 + $1.byteCount }
            current = []
        }
        groups += 1
    }

    /// Whether a group has trouble. Pictures shown before its keyframe lean on the group before, and are left out
    /// unless that one is decoded first.
    private func decode(_ group: [Packet], after preceding: [Packet] = []) throws -> Bool {
        defer { decoder.flush() }
        decoder.skipsNonReference = group.count > framesMax
        let key = group.first?.presentationTimestamp
        for packet in preceding.prefix(framesMax) { _ = try feed(packet) }
        var (pictures, troubles) = (0, 0)
        for packet in group.prefix(framesMax * 2) {
            if preceding.isEmpty, let key, let time = packet.presentationTimestamp, time < key { continue }
            let fed = try feed(packet, from: key)
            pictures += fed.pictures
            troubles += fed.troubles
        }
        let rest = try feed(nil, from: key)
        return troubles + rest.troubles > 0 || pictures + rest.pictures == 0
    }

    /// Sends one packet and takes what comes out; counts pictures from `key` on.
    private func feed(_ packet: Packet?, from key: Int64? = nil) throws -> (pictures: Int, troubles: Int) {
        try checkDeadline(deadline)
        var (pictures, troubles) = (0, 0)
        do { _ = try decoder.send(packet) } catch { troubles += 1 }
        while true {
            do {
                if try decoder.receive(into: frame) != .frame { return (pictures, troubles) }
                pictures += 1
                let isEarly = frame.presentationTimestamp.map { $0 < key ?? $0 } ?? false
                if frame.isConcealed, !isEarly { troubles += 1 }
            } catch {
                troubles += 1
                if troubles > 16 { return (pictures, troubles) }
            }
        }
    }
}
