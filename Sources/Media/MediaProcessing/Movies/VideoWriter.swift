import MediaLibraries
import SafeArithmetic

/// Encodes upright frames and writes their packets; controls the bit rate during the pass.
final class VideoWriter {
    /// Packets between two updates of the rate controller.
    private static let packetsPerUpdate = 8

    let encoder: Encoder
    private let muxer: Muxer
    private let target: Int
    private let weights: CumulativeWeights
    private let audioUsage: AudioByteUsage
    private(set) var rateController: RateController
    private let targetBytes: Double
    private var waiting: [Packet] = []
    private var ends: [Int64: Int64] = [:]
    private var last: Int64?
    private var sinceUpdate = (packets: 0, bytes: 0)

    private(set) var framesSent = 0
    private(set) var framesWritten = 0
    private(set) var bytesWritten = 0
    /// End of the last frame in seconds; set by `finish`.
    private(set) var end = 0.0

    init(
        _ settings: VideoEncoderSettings, rateController: RateController, weights: CumulativeWeights,
        audioUsage: AudioByteUsage,
        muxer: Muxer
    )
        throws
    {
        self.muxer = muxer
        self.rateController = rateController
        self.weights = weights
        self.audioUsage = audioUsage
        targetBytes = rateController.targetBytes
        encoder = try Encoder.video(settings)
        target = try muxer.addStream(of: encoder)
    }

    /// Encodes a frame that is shown from a time in seconds; times must increase.
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
    /// - Parameter end: End of the last frame in seconds.
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
        // A packet's duration is known when the next frame is.
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
        sinceUpdate = (sinceUpdate.packets + 1, sinceUpdate.bytes + bytes)
        guard sinceUpdate.packets >= Self.packetsPerUpdate else { return }
        let share = weights.share(before: Double(end) / Double(VideoEncoderSettings.ticksPerSecond))
        rateController.targetBytes = max(targetBytes / 2, targetBytes + audioUsage.spare)
        if let quality = rateController.record(bytes: sinceUpdate.bytes, share: share) {
            try encoder.setVideoQuality(quality)
        }
        sinceUpdate = (0, 0)
    }
}

/// Cumulative distribution of a movie's bytes over time.
struct CumulativeWeights: Sendable {
    private let times: [Double]
    private let sums: [Double]

    /// - Parameter weights: In order of time; only entries before `end` count.
    init(_ weights: [(time: Double, bytes: Int)], end: Double = .infinity) {
        var sum = 0.0
        var (times, sums): ([Double], [Double]) = ([], [])
        for weight in weights where weight.time < end {
            sum += Double(weight.bytes)
            times.append(weight.time)
            sums.append(sum)
        }
        self.times = times
        self.sums = sums
    }

    /// Weighted share of the movie before a time, from 0 to 1.
    func share(before time: Double) -> Double {
        guard let total = sums.last, total > 0 else { return 0 }
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? 0 : sums[low - 1] / total
    }
}
