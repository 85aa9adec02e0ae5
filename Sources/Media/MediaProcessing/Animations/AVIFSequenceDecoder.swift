import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Decodes the frames of an AVIF sequence with libav, and combines them with the alpha track.
final class AVIFSequenceDecoder: AnimationDecoder {
    let width: Int
    let height: Int
    let loopCount: Int
    private let sequence: AVIFSequenceIndex
    private let color: AVIFTrackDecoder
    private let alpha: AVIFTrackDecoder?
    private let deadline: ContinuousClock.Instant
    private var number = 0

    var count: Int { sequence.times.count }

    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        sequence = try AVIFSequenceIndex(descriptor, deadline: deadline)
        (width, height, loopCount) = (sequence.width, sequence.height, sequence.loopCount)
        self.deadline = deadline
        color = try AVIFTrackDecoder(sequence.color, descriptor: descriptor, deadline: deadline)
        alpha = try sequence.alpha.map { try AVIFTrackDecoder($0, descriptor: descriptor, deadline: deadline) }
    }

    func next() throws -> AnimationFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        var pixels = try opaque(frame(of: color))
        if let alpha { addAlpha(try opaque(frame(of: alpha)), into: &pixels) }
        defer { number += 1 }
        return AnimationFrame(
            pixels: pixels, delayMilliseconds: AnimationDecoders.shown(sequence.delaysMilliseconds[number]))
    }

    private func frame(of stream: AVIFTrackDecoder) throws -> DecodedFrame {
        guard let frame = try stream.next(), frame.width == width, frame.height == height else {
            throw AttachPrepError(.mediaCorrupt, "The AVIF ends before frame \(number); the file is corrupt.")
        }
        return frame
    }

    private func opaque(_ frame: DecodedFrame) -> [UInt8] {
        guard frame.bands == 3 else { return frame.bytes }
        // Bounded throughout: `ImageLimits` have been checked, and a frame has these sides.
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        for index in 0..<width * height {
            for band in 0..<3 { pixels[index * 4 + band] = frame.bytes[index * 3 + band] }
        }
        return pixels
    }

    /// Sets the alpha channel; the alpha track is gray, so red is used.
    private func addAlpha(_ alpha: [UInt8], into pixels: inout [UInt8]) {
        // Bounded: as above.
        for index in 0..<width * height { pixels[index * 4 + 3] = alpha[index * 4] }
    }
}

/// Decodes the frames of one AVIF track, in display order.
final class AVIFTrackDecoder {
    private let demuxer: Demuxer
    private let decoder: Decoder
    private let pixels: FramePixels
    private let index: Int
    private let deadline: ContinuousClock.Instant
    private let packet: Packet
    private var waiting: [Frame] = []
    private var hasEnded = false

    /// Uses its own demuxer, since the tracks of a file need not be interleaved.
    init(_ stream: StreamDescription, descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        let movie = try OpenMovie.open(descriptor, format: .avif, isRecognized: true, deadline: deadline)
        demuxer = movie.demuxer
        demuxer.discardStreams(except: [stream.index])
        packet = try Packet()
        decoder = try readingMedia {
            try Decoder.open(stream: stream.index, of: movie.demuxer, pixelsMax: Limits.moviePixelsMax)
        }
        pixels = FramePixels(stream: stream, largestSide: nil)
        index = stream.index
        self.deadline = deadline
    }

    /// The next frame; nil after the last.
    func next() throws -> DecodedFrame? {
        while waiting.isEmpty, !hasEnded { try readingMedia(readOn) }
        guard !waiting.isEmpty else { return nil }
        return try readingMedia { try pixels.decodedFrame(of: waiting.removeFirst(), time: 0) }
    }

    private func readOn() throws {
        try checkDeadline(deadline)
        guard try demuxer.read(into: packet) else {
            hasEnded = true
            _ = try decoder.send(nil)
            return try drain()
        }
        guard packet.streamIndex == index, packet.byteCount > 0, !packet.isDiscarded else { return }
        while try !decoder.send(packet) { try drain() }
        try drain()
    }

    private func drain() throws {
        while true {
            let frame = try Frame()
            guard try decoder.receive(into: frame) == .frame else { return }
            waiting.append(frame)
        }
    }
}

/// The frames and times of an AVIF sequence, read from its index without decoding.
struct AVIFSequenceIndex {
    let demuxer: Demuxer
    let color: StreamDescription
    /// The track that contains the alpha channel.
    let alpha: StreamDescription?
    /// Presentation times in ticks, sorted. `delaysMilliseconds` holds the duration of each frame.
    private(set) var times: [Int64] = []
    private(set) var delaysMilliseconds: [Int] = []
    let loopCount: Int

    var width: Int { color.width }
    var height: Int { color.height }

    /// Seconds of one play.
    var duration: Double { delaysMilliseconds.reduce(0.0) { $0 + Double(AnimationDecoders.shown($1)) / 1000 } }

    /// Whether the major brand is a sequence; a file that merely lists it as compatible is a still.
    static func isSequence(_ window: ByteWindow) throws -> Bool {
        try window.characters(at: 8, count: 4) == "avis"
    }

    /// Reads every packet without decoding it.
    ///
    /// - Throws: `media.corrupt` when a sample lies outside the file, and over the limits of animations.
    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        let window = try ByteWindow(descriptor: descriptor, noun: "AVIF", deadline: deadline)
        loopCount = try AVIFLoopCount.count(window)
        let movie = try OpenMovie.open(descriptor, format: .avif, isRecognized: true, deadline: deadline)
        guard let color = movie.video, color.isDecodable else {
            throw AttachPrepError(.mediaUnsupported, "The AVIF has no sequence that can be decoded; send a GIF.")
        }
        demuxer = movie.demuxer
        self.color = color
        alpha = movie.streams.first { stream in
            stream.kind == .video && stream.index != color.index && stream.isDecodable
                && stream.pixelFormat?.name.hasPrefix("gray") == true
                && stream.width == color.width && stream.height == color.height
        }
        try readTimes(window, deadline: deadline)
        try ImageLimits.check(width: width, height: height, frames: times.count)
    }

    private mutating func readTimes(_ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        if let end = demuxer.indexedEnd(stream: color.index), end > demuxer.fileBytes { throw window.cut }
        var samples: [(time: Int64, duration: Int64)] = []
        let packet = try Packet()
        while try readingMedia({ try demuxer.read(into: packet) }) {
            try checkDeadline(deadline)
            guard packet.streamIndex == color.index, packet.byteCount > 0, !packet.isDiscarded else { continue }
            if packet.isCorrupt { throw window.cut }
            if samples.count == Limits.animationFramesMax { throw tooManyFrames("AVIF") }
            samples.append((packet.presentationTimestamp ?? packet.decodingTimestamp ?? 0, packet.duration))
        }
        samples.sort { $0.time < $1.time }
        if samples.isEmpty { throw window.broken("no frame") }
        times = samples.map(\.time)
        for (index, sample) in samples.enumerated() {
            let following = samples.dropFirst(index &+ 1).first
            let ticks = following?.time.subtracting(clamping: sample.time) ?? sample.duration
            let seconds = min(color.timeBase.seconds(ticks), Limits.durationSecondsMax)
            delaysMilliseconds.append(Int(clamping: (seconds * 1000).rounded()))
        }
    }
}

/// The number of plays of an AVIF sequence, from the edit list of its first track.
///
/// Source: ISO/IEC 14496-12, 8.6.6: a repeating edit list continues until the track's duration is reached. libavif and
/// browsers play a sequence without an edit list infinitely.
enum AVIFLoopCount {
    static func count(_ window: ByteWindow) throws -> Int {
        guard let movie = try ISOBoxSearch.first("moov", in: 0..<window.size, window: window),
            let track = try ISOBoxSearch.first("trak", in: movie, window: window),
            let edits = try ISOBoxSearch.first("edts", in: track, window: window),
            let list = try ISOBoxSearch.first("elst", in: edits, window: window), list.count >= 16
        else { return 0 }
        // Bounded throughout: contents lie in the file; the divisor is above 0, and the dividend not below.
        let isLong = try window.byte(at: list.lowerBound) == 1
        guard try window.byte(at: list.lowerBound + 3) & 1 == 1 else { return 1 }
        let segment = try window.bigEndian(at: list.lowerBound + 8, bytes: isLong ? 8 : 4)
        guard let header = try ISOBoxSearch.first("tkhd", in: track, window: window), segment > 0 else { return 0 }
        let isLongHeader = try window.byte(at: header.lowerBound) == 1
        let size = isLongHeader ? 8 : 4
        let offset = header.lowerBound + (isLongHeader ? 28 : 20)
        // All ones means infinite; as 64 bits that exceeds Int.
        guard try window.byte(at: offset) < 0x80 else { return 0 }
        let whole = try window.bigEndian(at: offset, bytes: size)
        // Rounded up without overflow, since both may be as large as Int allows.
        return max(1, whole / segment + (whole % segment > 0 ? 1 : 0))
    }
}
