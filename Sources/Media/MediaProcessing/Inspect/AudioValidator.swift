import AttachPrepModel
import MediaLibraries
import MediaTypes

/// Verifies that the first and last packets of an audio stream decode.
final class AudioValidator {
    let decoder: Decoder
    private let frame: Frame
    /// The last packets, a ring.
    private var tail: [Packet] = []
    private var oldest = 0
    private var taken = 0
    private var failures = 0
    /// Whether the last packet may end inside a sample: `WaveParser` checks the length.
    private let mayEndInside: Bool

    init(_ stream: StreamDescription, of demuxer: Demuxer) throws {
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: 1)
        frame = try Frame()
        mayEndInside = demuxer.name == "wav" && stream.codec.hasPrefix("pcm_")
    }

    /// Whether the next packet is decoded; later ones are only kept.
    var isAtStart: Bool { taken < Limits.validationAudioPackets }

    /// Processes the stream's next packet.
    func consume(_ packet: Packet) throws {
        if packet.byteCount == 0 { return }
        taken += 1
        if taken <= Limits.validationAudioPackets {
            if !decodes(packet) { failures += 1 }
        } else {
            if tail.count < Limits.validationAudioPackets {
                tail.append(try packet.reference())
            } else {
                try tail[oldest].refer(to: packet)
                oldest = (oldest + 1) % tail.count
            }
        }
    }

    /// Decodes the last packets; call it after the last packet.
    func finish() throws {
        // A recording cut out of a stream can begin inside a frame, so up to half of the first packets may fail.
        if failures * 2 > min(taken, Limits.validationAudioPackets) { throw Self.damaged }
        decoder.flush()
        var last = true
        // The first of these packets depend on data of packets that are gone, so only the last result counts.
        for index in tail.indices { last = decodes(tail[(oldest + index) % tail.count]) }
        if !last { throw Self.damaged }
    }

    private static let damaged = AttachPrepError(.mediaCorrupt, "The audio does not decode; send an intact file.")

    private func decodes(_ packet: Packet) -> Bool {
        var isBegun = false
        do {
            _ = try decoder.send(packet)
            while try decoder.receive(into: frame) == .frame { isBegun = true }
            return true
        } catch {
            // A recorder that was stopped leaves a part of a sample after whole ones.
            return mayEndInside && isBegun
        }
    }
}

/// Verifies that all packets of an audio stream decode, as far as time permits, before they are copied.
final class AudioPacketValidator {
    private let decoder: Decoder
    private let frame: Frame
    private let timer: ValidationTimer

    init(_ stream: StreamDescription, of demuxer: Demuxer, clock: WorkClock) throws {
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: 1)
        frame = try Frame()
        timer = ValidationTimer(clock)
    }

    /// Decodes one packet.
    ///
    /// - Throws: `LibAVError` when the packet does not decode.
    func validate(_ packet: Packet) throws {
        try timer.spend {
            try timer.check()
            _ = try decoder.send(packet)
            while try decoder.receive(into: frame) == .frame {}
        }
    }
}

extension Limits {
    /// Packets of an audio stream decoded at its beginning and at its end.
    static let validationAudioPackets = 8
}
