import LibAV
import SafeArithmetic

/// Encodes upright pictures and writes their packets; measures and steers on the way.
final class PictureWriter {
    /// Packets between two looks at the bytes.
    private static let packetsPerLook = 8

    let encoder: Encoder
    private let muxer: Muxer
    private let target: Int
    private let weights: ShareOfWeight
    private let ledger: SoundLedger
    private(set) var steering: QualitySteering
    private let budget: Double
    private var waiting: [Packet] = []
    private var ends: [Int64: Int64] = [:]
    private var last: Int64?
    private var unlooked = (packets: 0, bytes: 0)

    private(set) var framesSent = 0
    private(set) var framesWritten = 0
    private(set) var bytesWritten = 0
    /// Seconds at which the last picture ends; set when finished.
    private(set) var end = 0.0

    init(
        _ settings: VideoEncoderSettings, steering: QualitySteering, weights: ShareOfWeight, ledger: SoundLedger,
        muxer: Muxer
    )
        throws
    {
        self.muxer = muxer
        self.steering = steering
        self.weights = weights
        self.ledger = ledger
        budget = steering.budget
        encoder = try Encoder.video(settings)
        target = try muxer.addStream(of: encoder)
    }

    /// Takes a picture that is shown from a time on; times grow.
    func write(_ frame: Frame, at seconds: Double) throws {
        var tick = Self.tick(seconds)
        if let last {
            tick = max(tick, last.adding(clamping: 1))
            ends[last] = tick
        }
        last = tick
        frame.setTime(tick)
        framesSent += 1
        while try !encoder.send(frame) { try receive() }
        try receive()
    }

    /// Writes what the encoder still holds.
    ///
    /// - Parameter end: Seconds at which the last picture ends.
    func finish(at end: Double) throws {
        guard let last else { return }
        let stop = max(last.adding(clamping: 1), Self.tick(end))
        ends[last] = stop
        self.end = Double(stop) / Double(VideoEncoderSettings.ticksPerSecond)
        _ = try encoder.send(nil)
        try receive()
    }

    private static func tick(_ seconds: Double) -> Int64 {
        Int64(clamping: (seconds * Double(VideoEncoderSettings.ticksPerSecond)).rounded())
    }

    private func receive() throws {
        while true {
            let packet = try Packet()
            guard try encoder.receive(into: packet) == .packet else { break }
            waiting.append(packet)
        }
        // A packet's duration is known once the next picture is.
        while let packet = waiting.first, let time = packet.presentationTimestamp, let end = ends[time] {
            waiting.removeFirst()
            ends[time] = nil
            packet.duration = end.subtracting(clamping: time)
            try write(packet, shownUntil: end)
        }
    }

    private func write(_ packet: Packet, shownUntil end: Int64) throws {
        let bytes = packet.byteCount
        try muxer.write(packet, stream: target, timeBase: encoder.timeBase)
        framesWritten += 1
        bytesWritten = bytesWritten.adding(clamping: bytes)
        // Bounded: `packetsPerLook` packets of 32 bits.
        unlooked = (unlooked.packets + 1, unlooked.bytes + bytes)
        guard unlooked.packets >= Self.packetsPerLook else { return }
        let share = weights.share(before: Double(end) / Double(VideoEncoderSettings.ticksPerSecond))
        // Bounded: floating point.
        steering.budget = max(budget / 2, budget + ledger.spare)
        if let quality = steering.note(bytes: unlooked.bytes, share: share) { try encoder.setVideoQuality(quality) }
        unlooked = (0, 0)
    }
}
