import LibAV
import RichPush

/// The pictures of one stream of an AVIF, in the order they are shown.
final class AVIFStream {
    private let demuxer: Demuxer
    private let decoder: Decoder
    private let pixels: FramePixels
    private let index: Int
    private let deadline: ContinuousClock.Instant
    private let packet: Packet
    private var waiting: [Frame] = []
    private var hasEnded = false

    /// Reads through a demuxer of its own, since the streams of a file need not lie beside each other.
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

    /// The next picture; nil after the last.
    func next() throws -> DecodedPicture? {
        while waiting.isEmpty, !hasEnded { try readingMedia(readOn) }
        guard !waiting.isEmpty else { return nil }
        return try readingMedia { try pixels.picture(of: waiting.removeFirst(), time: 0) }
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
