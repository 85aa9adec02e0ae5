import Linux
import MediaLibraries
import Synchronization

/// Decodes the wanted frame of a movie and the frames it depends on, on a thread of its own: meanwhile the rest of the
/// movie is read, and its other keyframes are validated by another decoder.
///
/// libav's frame threads are not used, because with them FFmpeg 5.1 copies a frame's error flags while another thread
/// may still set them: a damaged file passed in five of six runs.
final class FrameFetch {
    struct Outcome {
        var decoded = GOPDecoder.DecodeResult()
        /// Whether all packets were decoded in time.
        var isComplete = false
    }

    private let work: Work
    private var thread: JoinableThread?

    /// Starts to decode; if no thread can be started, it has ended on return.
    ///
    /// - Parameters:
    ///   - isDeblocked: Whether the frames before the wanted one are deblocked.
    ///   - deadline: When to stop without the frame.
    init(_ wanted: WantedFrame, decoder: Decoder, isDeblocked: Bool, deadline: ContinuousClock.Instant) {
        let work = Work(wanted: wanted, decoder: decoder, isDeblocked: isDeblocked, deadline: deadline)
        self.work = work
        do { thread = try JoinableThread(name: "frame", work.run) } catch { work.run() }
    }

    /// Ends the thread if nobody has waited for it, so that it takes no time from the next file.
    deinit {
        work.isCanceled.store(true, ordering: .relaxed)
        thread.take()?.join()
    }

    /// Presentation time of the wanted frame in ticks.
    var tick: Int64 { work.wanted.tick }
    var keyframe: Packet? { work.wanted.packets.first }

    /// Whether a packet is its keyframe.
    func begins(with key: Packet?) -> Bool {
        guard let key, let keyframe else { return false }
        return keyframe.isSame(as: key)
    }

    /// Waits for the end.
    ///
    /// - Returns: What was decoded, and the decoder.
    func wait() throws -> (Outcome, Decoder) {
        thread.take()?.join()
        return (try work.result.get(), work.decoder)
    }

    // Sendable, because only the thread uses the decoder and the result until it has been joined, and packets do not
    // change.
    private final class Work: @unchecked Sendable {
        let wanted: WantedFrame
        let decoder: Decoder
        private let isDeblocked: Bool
        private let deadline: ContinuousClock.Instant
        let isCanceled = Atomic(false)
        private(set) var result: Result<Outcome, any Error> = .success(Outcome())

        init(wanted: WantedFrame, decoder: Decoder, isDeblocked: Bool, deadline: ContinuousClock.Instant) {
            self.wanted = wanted
            self.decoder = decoder
            self.isDeblocked = isDeblocked
            self.deadline = deadline
        }

        @Sendable func run() {
            result = Result {
                let decoding = try GOPDecoder(decoder, wanted: wanted, isDeblocked: isDeblocked)
                let isComplete = decoding.decodeReferences(wanted.packets) {
                    isCanceled.load(ordering: .relaxed) || .now > deadline
                }
                return Outcome(decoded: decoding.finish(), isComplete: isComplete)
            }
        }
    }
}
