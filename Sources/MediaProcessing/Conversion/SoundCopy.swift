import LibAV
import RichPush

/// An M4A of a sound's own packets, bit for bit.
struct SoundCopy {
    /// Codecs that M4A holds as they are.
    private static let codecs: Set<String> = ["aac", "alac"]
    /// Samples of an AAC packet; twice as many where the decoder doubles the rate.
    private static let packetSamples = 1_024.0

    let source: SoundSource
    let file: SoundFile
    let deadline: ContinuousClock.Instant

    /// - Returns: Bytes of the file; nil when the stream does not fit or cannot be put into an M4A.
    func run() throws -> Int? {
        guard Self.codecs.contains(source.stream.codec) else { return nil }
        let movie = try source.open(deadline: deadline)
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
        let timeBase = TimeBase(numerator: 1, denominator: Int32(source.stream.sampleRate))
        let packet = try Packet()
        var end: Int64?
        while try movie.readOn(into: packet) {
            guard packet.streamIndex == source.stream.index, packet.byteCount > 0 else { continue }
            let time = (packet.presentationTimestamp ?? packet.decodingTimestamp).map { sample($0, movie) }
            let duration = samples(packet.duration)
            // Containers that count in milliseconds are off by a few samples at each packet.
            let isNext = time.flatMap { time in end.map { abs(time - $0) < max(duration, 1) / 2 } } ?? true
            let start = isNext ? end ?? time ?? 0 : time ?? 0
            packet.presentationTimestamp = start
            packet.decodingTimestamp = start
            packet.duration = duration
            try muxer.write(packet, stream: stream, timeBase: timeBase)
            end = start + duration
        }
        if end == nil { throw SoundSource.empty }
    }

    private func sample(_ tick: Int64, _ movie: OpenMovie) -> Int64 {
        let seconds = source.stream.timeBase.seconds(tick) - movie.origin
        return Int64((seconds * Double(source.stream.sampleRate)).rounded())
    }

    private func samples(_ ticks: Int64) -> Int64 {
        let exact = source.stream.timeBase.seconds(ticks) * Double(source.stream.sampleRate)
        let isWhole = source.stream.timeBase.tick * Double(source.stream.sampleRate) <= 1
        if isWhole || source.stream.codec != "aac" { return Int64(exact.rounded()) }
        return Int64(max(1, (exact / Self.packetSamples).rounded()) * Self.packetSamples)
    }
}
