import Linux
import MediaEngine
import RichPush
import Synchronization

/// The thumbnail of a picture that is passed, made while the picture still arrives: with the last byte it is nearly
/// done.
///
/// It takes a media slot only when one is free and the rest of the file is near, and gives it back when the rest does
/// not come. What it makes is used when the plan, which comes later, wants just that; else it was in vain.
final class ArrivingThumbnail: ArrivalObserver {
    private struct State {
        var format: MediaFormat?
        /// When the body began.
        var began = ContinuousClock.now
        var running: Running?
        /// Whether it was tried, or must not be tried any more.
        var isOver = false
        var lastArrival = ContinuousClock.now
    }

    private struct Running {
        let request: RenderRequest
        let pipe: BytePipe
        let work: Task<Renditions?, Never>
        let start: ContinuousClock.Instant
        /// Bytes when the child was last told.
        var told: Int
    }

    private let request: AttachmentRequest
    private let engine: @Sendable () -> any MediaEngine
    private let source: OpenFile
    private let blocking: BlockingLane
    private let staging: StagingFolder
    private let deadline: ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameter engine: That is blamed where a process ends; asked for when work begins.
    init(
        request: AttachmentRequest, source: OpenFile, blocking: BlockingLane, staging: StagingFolder,
        deadline: ContinuousClock.Instant, engine: @escaping @Sendable () -> any MediaEngine
    ) {
        self.request = request
        self.source = source
        self.blocking = blocking
        self.staging = staging
        self.deadline = deadline
        self.engine = engine
    }

    // MARK: What is heard

    /// Identification's word.
    func identified(as format: MediaFormat) {
        state.withLock { $0.format = format }
    }

    func bodyBegan() {
        state.withLock { state in
            // What was read so far is gone.
            state.running?.pipe.hangUp()
            state.isOver = state.isOver || state.running != nil
            state.began = .now
        }
    }

    func arrived(bytes: Int, of total: Int?) {
        state.withLock { state in
            state.lastArrival = .now
            if let running = state.running {
                guard bytes - running.told >= Limits.earlyToldBytes else { return }
                running.pipe.say(ArrivalWord.more.rawValue)
                state.running?.told = bytes
            } else if !state.isOver, let total, let format = state.format,
                EarlyStart.isDue(bytes: bytes, of: total, in: state.began.duration(to: .now) / .seconds(1))
            {
                state.isOver = true
                if let request = EarlyStart.request(format, bytes: total, for: request) {
                    state.running = start(request, told: bytes)
                }
            }
        }
    }

    /// All of it is there.
    func completed() {
        state.withLock { state in
            state.isOver = true
            state.running?.pipe.say(ArrivalWord.all.rawValue)
        }
    }

    // MARK: What comes of it

    /// What was made for that request, and how long it took in milliseconds; nil when nothing was, or something else.
    func renditions(for wanted: RenderRequest?) async -> (renditions: Renditions, milliseconds: Double)? {
        guard let running = state.withLock({ $0.running }) else { return nil }
        guard running.request == wanted else {
            await abandon()
            return nil
        }
        guard let renditions = await running.work.value else { return nil }
        return (renditions, running.start.duration(to: .now).milliseconds)
    }

    /// Ends it where nobody wants it any more, and returns when nothing of it is left.
    func abandon() async {
        let running = state.withLock { state in
            state.isOver = true
            return state.running
        }
        guard let running else { return }
        running.pipe.hangUp()
        if await running.work.value != nil {
            try? staging.remove(RenderStep.workingName(.thumbnail))
        }
    }

    // MARK: Work

    private func start(_ wanted: RenderRequest, told: Int) -> Running? {
        guard let pipe = try? BytePipe() else { return nil }
        var arriving = wanted
        arriving.isArriving = true
        let work = Task { [self] in
            // Nothing that goes wrong here is an error: it is all done again, when the file is there.
            let made = try? await engine().inTurnIfFree { [arriving] place in
                try await RenderStep(
                    request: arriving, source: source.descriptor, arrivals: pipe.readEnd, engine: place,
                    blocking: blocking, staging: staging, deadline: deadline
                ).run()
            }
            pipe.hangUp()
            return made ?? nil
        }
        Task { await watch(pipe) }
        return Running(request: wanted, pipe: pipe, work: work, start: .now, told: told)
    }

    /// Gives the slot back when the file does not go on.
    private func watch(_ pipe: BytePipe) async {
        let silence = Duration.seconds(Limits.earlySilenceSecondsMax)
        var end = ContinuousClock.now + silence
        while end > .now {
            try? await ContinuousClock().sleep(until: end)
            end = state.withLock { $0.lastArrival } + silence
        }
        pipe.hangUp()
    }
}
