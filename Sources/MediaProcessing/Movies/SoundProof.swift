import LibAV
import RichPush

/// Proves that a sound stream decodes: its first packets and its last.
final class SoundProof {
    private let decoder: Decoder
    private let frame: Frame
    private var tail: [Packet] = []
    private var taken = 0
    private var failures = 0

    init(_ stream: StreamDescription, of demuxer: Demuxer) throws {
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: 1)
        frame = try Frame()
    }

    /// Takes the stream's next packet.
    func take(_ packet: Packet) throws {
        if packet.byteCount == 0 { return }
        taken += 1
        if taken <= Limits.soundnessSoundPackets {
            if !decodes(packet) { failures += 1 }
        } else {
            if tail.count == Limits.soundnessSoundPackets { tail.removeFirst() }
            tail.append(try packet.reference())
        }
    }

    /// Decodes the last packets; to be called after the last one.
    func finish() throws {
        // A recording that was cut out of a stream may begin inside a frame.
        // Bounded: packets at the beginning, at most `Limits.soundnessSoundPackets`.
        if failures * 2 > min(taken, Limits.soundnessSoundPackets) { throw Self.damaged }
        decoder.flush()
        var last = true
        // The first ones lean on bits of packets that are gone.
        for packet in tail { last = decodes(packet) }
        if !last { throw Self.damaged }
    }

    private static let damaged = AttachPrepError(.mediaCorrupt, "The sound does not decode; send an intact file.")

    private func decodes(_ packet: Packet) -> Bool {
        do {
            _ = try decoder.send(packet)
            while try decoder.receive(into: frame) == .frame {}
            return true
        } catch {
            return false
        }
    }
}
