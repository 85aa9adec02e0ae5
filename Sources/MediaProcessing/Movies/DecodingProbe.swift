import LibAV
import RichPush

/// Whether anything of a damaged stream decodes: one picture without a flaw, or one run of samples.
final class DecodingProbe {
    private let decoder: Decoder
    private let frame: Frame
    private var packets = 0
    private(set) var decodes = false

    init(_ stream: StreamDescription, of demuxer: Demuxer) throws {
        decoder = try Decoder.open(
            stream: stream.index, of: demuxer, pixelsMax: stream.kind == .video ? Limits.moviePixelsMax : 1)
        self.stream = stream.index
        frame = try Frame()
    }

    private let stream: Int

    /// Takes any packet of the file.
    func take(_ packet: Packet) {
        if decodes || packet.streamIndex != stream || packet.byteCount == 0 { return }
        packets += 1
        if packets <= Limits.salvagePackets { feed(packet) }
    }

    /// To be called after the last packet.
    func finish() { if !decodes { feed(nil) } }

    private func feed(_ packet: Packet?) {
        do {
            _ = try decoder.send(packet)
            while !decodes, try decoder.receive(into: frame) == .frame {
                decodes = !frame.isConcealed && !frame.isUnrecovered
            }
        } catch {
            // The next packet may do better.
        }
    }
}
