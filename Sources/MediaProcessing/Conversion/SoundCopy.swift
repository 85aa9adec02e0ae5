import LibAV
import RichPush
import SafeArithmetic

/// An M4A of a sound's own packets, bit for bit.
struct SoundCopy {
    /// Codecs that M4A holds as they are.
    private static let codecs: Set<String> = ["aac", "alac"]
    /// Samples of an AAC packet; twice as many where the decoder doubles the rate.
    private static let packetSamples = 1_024.0
    /// Four hours at a few times the highest rate.
    private static let samplesMax = 1e10

    let source: SoundSource
    let file: SoundFile
    let clock: WorkClock

    /// - Returns: Bytes of the file; nil when the stream does not fit, does not decode or cannot be put into an M4A.
    func run() throws -> Int? {
        guard Self.codecs.contains(source.stream.codec), source.stream.sampleRate > 0 else { return nil }
        let movie = try source.open(deadline: clock.deadline)
        do {
            return try file.write { muxer in
                let stream = try muxer.addStream(copyingFrom: movie.demuxer, source.stream.index)
                try muxer.writeHeader()
                try copy(movie, to: stream, of: muxer)
            }
        } catch is LibAVError {
            return nil
        }
    }

    private func copy(_ movie: OpenMovie, to stream: Int, of muxer: Muxer) throws {
        let timeBase = TimeBase(numerator: 1, denominator: Int32(clamping: source.stream.sampleRate))
        let proof = try PacketProof(source.stream, of: movie.demuxer, clock: clock)
        var held: Packet?
        var end: Int64?
        let packet = try Packet()
        while try movie.readOn(into: packet) {
            guard packet.streamIndex == source.stream.index, packet.byteCount > 0 else { continue }
            try proof.take(packet)
            let next = try packet.reference()
            let time = (packet.presentationTimestamp ?? packet.decodingTimestamp).map { sample($0, movie) }
            let duration = samples(packet.duration)
            // Containers that count in milliseconds are off by a few samples at each packet.
            let isNext = time.flatMap { time in end.map { isNear(time, $0, lasting: duration) } } ?? true
            let start = isNext ? end ?? time ?? 0 : time ?? 0
            (next.presentationTimestamp, next.decodingTimestamp, next.duration) = (start, start, duration)
            try held.map { try muxer.write($0, stream: stream, timeBase: timeBase) }
            held = next
            end = duration > 0 ? start.adding(clamping: duration) : nil
        }
        guard let last = held else { throw SoundSource.empty }
        // Elsewhere the next packet tells how long one lasts.
        if last.duration == 0 { last.duration = try decodedSamples(last, movie) }
        try muxer.write(last, stream: stream, timeBase: timeBase)
    }

    /// Whether two times are less than half a packet apart.
    private func isNear(_ time: Int64, _ other: Int64, lasting duration: Int64) -> Bool {
        time.subtracting(clamping: other).magnitude < max(duration, 1).magnitude / 2
    }

    private func decodedSamples(_ packet: Packet, _ movie: OpenMovie) throws -> Int64 {
        let decoder = try Decoder.open(stream: source.stream.index, of: movie.demuxer, pixelsMax: 1)
        let frame = try Frame()
        guard try decoder.send(packet), try decoder.receive(into: frame) == .frame else { return 0 }
        return Int64(clamping: frame.sampleCount)
    }

    private func sample(_ tick: Int64, _ movie: OpenMovie) -> Int64 {
        // Bounded: floating point.
        bounded((source.stream.timeBase.seconds(tick) - movie.origin) * Double(source.stream.sampleRate))
    }

    private func samples(_ ticks: Int64) -> Int64 {
        let exact = source.stream.timeBase.seconds(ticks) * Double(source.stream.sampleRate)
        let isWhole = source.stream.timeBase.tick * Double(source.stream.sampleRate) <= 1
        if isWhole || source.stream.codec != "aac" { return bounded(exact) }
        return bounded(max(1, (exact / Self.packetSamples).rounded()) * Self.packetSamples)
    }

    /// Hostile times stay what arithmetic can take.
    private func bounded(_ samples: Double) -> Int64 {
        Int64(clamping: max(-Self.samplesMax, min(Self.samplesMax, samples.rounded())))
    }
}
