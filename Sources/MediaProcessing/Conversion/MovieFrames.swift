import LibAV
import RichPush

/// The pictures of a movie with their times, as its packets come in.
final class MovieFrames {
    /// A decoder that fails so often without a frame between will never give one.
    private static let failuresMax = 64

    private let decoder: Decoder
    private var times: FrameTimes

    init(_ movie: OpenMovie, _ scan: MovieScan) throws {
        decoder = try readingMedia {
            try Decoder.open(
                stream: scan.video.index, of: movie.demuxer, threads: 2, pixelsMax: Limits.moviePixelsMax)
        }
        times = FrameTimes(movie, scan)
    }

    /// Which pictures are left out.
    var haste = FrameHaste.none { didSet { decoder.skipsNonReference = haste == .withoutUnneeded } }

    /// Forgets what was sent, after a seek.
    func flush() { decoder.flush() }

    /// Sends a packet, or nil for the end, and hands on the frames that come out with their times in seconds.
    func feed(_ packet: Packet?, use: (Frame, Double) throws -> Void) throws {
        if let packet {
            if packet.byteCount == 0 || haste == .keyframesOnly && !packet.isKeyframe { return }
            times.send(packet)
        }
        while try !send(packet) {
            if try !receive(use: use) { break }
        }
        while try receive(use: use) {}
    }

    /// False when frames have to be received first. What does not decode is stepped over.
    private func send(_ packet: Packet?) throws -> Bool {
        do {
            return try decoder.send(packet)
        } catch {
            if error.isOutOfMemory { throw error.corrupt }
            return true
        }
    }

    /// Hands on one frame; false when there is none.
    private func receive(use: (Frame, Double) throws -> Void) throws -> Bool {
        var failures = 0
        while true {
            let frame = try Frame()
            do {
                if try decoder.receive(into: frame) != .frame { return false }
            } catch {
                failures += 1
                if error.isOutOfMemory { throw error.corrupt }
                if failures == Self.failuresMax { return false }
                continue
            }
            if let time = times.time(of: frame) { try use(frame, time) }
            return true
        }
    }
}
