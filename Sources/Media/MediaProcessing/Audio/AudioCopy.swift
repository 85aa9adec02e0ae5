import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Copies the packets of an audio stream into another container, bit for bit.
struct AudioCopy {
    /// Samples per AAC packet; twice as many where the decoder doubles the rate.
    private static let packetSamples = 1_024.0
    /// Maximum sample position: four hours at a few times the highest rate.
    private static let samplesMax = 1e10

    let source: AudioSource
    let file: AudioFile
    let clock: WorkClock

    /// - Returns: File size in bytes; nil when the stream is too large, does not decode or cannot be stored in the
    ///   file.
    func run() throws -> Int? {
        guard file.codecs.contains(source.stream.codec), source.stream.sampleRate > 0 else { return nil }
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
        let validation = try AudioPacketValidator(source.stream, of: movie.demuxer, clock: clock)
        var held: Packet?
        var end: Int64?
        let packet = try Packet()
        while try movie.demuxer.readLeniently(into: packet) {
            guard packet.streamIndex == source.stream.index, packet.byteCount > 0 else { continue }
            try validation.validate(packet)
            let next = try packet.reference()
            let time = (packet.presentationTimestamp ?? packet.decodingTimestamp).map { sample($0, movie: movie) }
            let duration = samples(packet.duration)
            // Containers with millisecond timestamps deviate by a few samples per packet.
            let isNext = time.flatMap { time in end.map { isNear(time, $0, lasting: duration) } } ?? true
            let start = isNext ? end ?? time ?? 0 : time ?? 0
            (next.presentationTimestamp, next.decodingTimestamp, next.duration) = (start, start, duration)
            try held.map { try muxer.write($0, stream: stream, timeBase: timeBase) }
            held = next
            end = duration > 0 ? start.adding(clamping: duration) : nil
        }
        guard let last = held else { throw AudioSource.empty }
        // The last packet has no successor that gives its duration, so it is decoded.
        if last.duration == 0 { last.duration = try decodedSamples(last, movie: movie) }
        try muxer.write(last, stream: stream, timeBase: timeBase)
    }

    /// Whether two times differ by less than half a packet.
    private func isNear(_ time: Int64, _ other: Int64, lasting duration: Int64) -> Bool {
        time.subtracting(clamping: other).magnitude < max(duration, 1).magnitude / 2
    }

    private func decodedSamples(_ packet: Packet, movie: OpenMovie) throws -> Int64 {
        let decoder = try Decoder.open(stream: source.stream.index, of: movie.demuxer, pixelsMax: 1)
        let frame = try Frame()
        guard try decoder.send(packet), try decoder.receive(into: frame) == .frame else { return 0 }
        return Int64(clamping: frame.sampleCount)
    }

    private func sample(_ tick: Int64, movie: OpenMovie) -> Int64 {
        bounded((source.stream.timeBase.seconds(tick) - movie.origin) * Double(source.stream.sampleRate))
    }

    private func samples(_ ticks: Int64) -> Int64 {
        let exact = source.stream.timeBase.seconds(ticks) * Double(source.stream.sampleRate)
        let isWhole = source.stream.timeBase.tick * Double(source.stream.sampleRate) <= 1
        if isWhole || source.stream.codec != "aac" { return bounded(exact) }
        return bounded(max(1, (exact / Self.packetSamples).rounded()) * Self.packetSamples)
    }

    /// Rounds and clamps a sample position, because hostile times could overflow.
    private func bounded(_ samples: Double) -> Int64 {
        Int64(clamping: max(-Self.samplesMax, min(Self.samplesMax, samples.rounded())))
    }
}

/// Writes an M4A or MP3 file.
struct AudioFile {
    let format: AudioRendition.Format
    let output: OutputFile
    let bytesMax: Int
    let deadline: ContinuousClock.Instant

    var type: AttachmentType { format == .m4a ? .mpeg4Audio : .mp3 }

    /// Codecs that can be copied into the file.
    var codecs: Set<String> { format == .m4a ? ["aac", "alac"] : ["mp3", "mp3float"] }

    /// Writes encoded packets.
    ///
    /// - Returns: File size in bytes; nil when it would exceed `bytesMax`.
    func write(_ packets: some Sequence<Packet>, of encoder: Encoder) throws -> Int? {
        try write { muxer throws(LibAVError) in
            let stream = try muxer.addStream(of: encoder)
            try muxer.writeHeader()
            // Writing empties a packet, and the packets may be written again.
            for packet in packets {
                try muxer.write(packet.reference(), stream: stream, timeBase: encoder.timeBase)
            }
        }
    }

    /// Writes what `body` sends to the muxer.
    ///
    /// - Returns: File size in bytes; nil when it would exceed `bytesMax`.
    /// - Throws: `LibAVError` when the muxer fails, `AttachPrepError` on a system error or past the deadline.
    func write(_ body: (Muxer) throws -> Void) throws -> Int? {
        let written = try DescriptorOutput.open(output.descriptor, bytesMax: bytesMax, deadline: deadline)
        do {
            let muxer = try Muxer.open(format == .m4a ? .mpeg4Audio : .mp3, into: written)
            try body(muxer)
            return try muxer.finish()
        } catch {
            switch written.writeError {
            case .overLimit: return nil
            case .deadline:
                throw AttachPrepError(
                    .deadlineExceeded, "The time for the request ran out while the audio was written.")
            case .system(let code): throw OutputFile.failure(code)
            case nil: throw error
            }
        }
    }
}

/// Copies a WAV whose last chunk has no size, and writes the number of samples into its header; no sample is lost.
struct WaveHeaderRepair {
    private static let pieceBytes = 65_536

    /// Borrowed.
    let source: CInt
    let output: OutputFile
    let clock: WorkClock

    /// - Returns: File size in bytes, at most one more than the source's: chunks have an even length.
    /// - Throws: `media.corrupt` when the header already has a sample count, `output.no_space`, `deadline.exceeded`.
    func run() throws -> Int {
        let window = try ByteWindow(descriptor: source, noun: "WAV", deadline: clock.deadline)
        let parser = try WaveParser.parse(window)
        guard let chunk = parser.openChunk else { throw window.broken("the sample count is present") }
        let start = chunk + 8
        let samples = (window.size - start) / parser.frameBytes * parser.frameBytes
        let size = start + samples + samples % 2
        guard size - 8 <= UInt32.max else { throw window.broken("more bytes than a 32-bit size can hold") }
        for offset in stride(from: 0, to: start + samples, by: Self.pieceBytes) {
            let count = min(Self.pieceBytes, start + samples - offset)
            try output.write(Array(window.bytes(at: offset, count: count)), at: offset)
        }
        if samples % 2 == 1 { try output.write([0], at: size - 1) }
        try output.write(Self.littleEndian(UInt32(clamping: size - 8)), at: 4)
        try output.write(Self.littleEndian(UInt32(clamping: samples)), at: chunk + 4)
        return size
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }
}
