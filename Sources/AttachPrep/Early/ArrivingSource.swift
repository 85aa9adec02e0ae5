import Linux
import MediaEngine
import RichPush
import SafeArithmetic
import Synchronization

/// Works on a source while it still arrives: with the last byte, the thumbnail of a picture that is passed or the
/// inspection of a movie is nearly done.
///
/// It takes a media slot only when one is free and the rest of the file is near, and gives it back when the rest does
/// not come. What it makes is used when just that is asked for later, and only for the body that it was made of; the
/// rest is discarded.
final class ArrivingSource: ArrivalObserver {
    private struct State {
        var format: MediaFormat?
        /// Of the body that arrives.
        var generation = 0
        /// When the body began.
        var began = ContinuousClock.now
        var running: Running?
        /// Whether it was tried, or must not be tried any more.
        var isOver = false
        var lastArrival = ContinuousClock.now
    }

    private struct Running {
        let work: EarlyWork
        let body: ArrivingBody
        let pipe: BytePipe
        let result: Task<EarlyResult?, Never>
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

    func bodyBegan(generation: Int) {
        state.withLock { state in
            // What was read so far is gone; `completed` discards what was made of it.
            state.running?.pipe.hangUp()
            state.isOver = state.isOver || state.running != nil
            state.generation = generation
            state.format = nil
            state.began = .now
        }
    }

    func arrived(bytes: Int, of total: Int?) {
        state.withLock { state in
            state.lastArrival = .now
            if let running = state.running {
                guard bytes.subtracting(clamping: running.told) >= Limits.earlyToldBytes else { return }
                running.pipe.say(ArrivalWord.more.rawValue)
                state.running?.told = bytes
            } else if !state.isOver, let total, let format = state.format,
                EarlyStart.isDue(
                    format.kind, bytes: bytes, of: total, in: state.began.duration(to: .now) / .seconds(1))
            {
                state.isOver = true
                if let work = EarlyStart.work(format, bytes: total, for: request) {
                    state.running = start(
                        work, on: ArrivingBody(generation: state.generation, bytes: total), told: bytes)
                }
            }
        }
    }

    /// All of it is there. Work on any other body has ended and left nothing behind when this returns.
    func completed(_ body: ArrivingBody) async {
        let isThisBody = state.withLock { state in
            state.isOver = true
            guard let running = state.running, running.body == body else { return false }
            running.pipe.say(ArrivalWord.all.rawValue)
            return true
        }
        if !isThisBody { await abandon() }
    }

    // MARK: What comes of it

    /// What was made for that request, and how long it took in milliseconds; nil when nothing was, or something else.
    func renditions(for wanted: RenderRequest?) async -> (renditions: Renditions, milliseconds: Double)? {
        guard let (result, milliseconds) = await result(of: wanted.map(EarlyWork.thumbnail)),
            case .renditions(let renditions) = result
        else { return nil }
        return (renditions, milliseconds)
    }

    /// What an inspection found that was asked just that, and how long it took in milliseconds.
    func inspection(
        for wanted: InspectRequest
    ) async -> (media: InspectedMedia, thumbnail: EarlyThumbnail?, milliseconds: Double)? {
        // A picture's thumbnail goes on meanwhile.
        guard case .inspection? = state.withLock({ $0.running?.work }),
            let (result, milliseconds) = await result(of: .inspection(wanted)),
            case .inspection(let media, let thumbnail) = result
        else { return nil }
        return (media, thumbnail, milliseconds)
    }

    private func result(of wanted: EarlyWork?) async -> (result: EarlyResult, milliseconds: Double)? {
        guard let running = state.withLock({ $0.running }) else { return nil }
        guard running.work == wanted else {
            await abandon()
            return nil
        }
        guard let result = await running.result.value else { return nil }
        return (result, running.start.duration(to: .now).milliseconds)
    }

    /// Ends it where nobody wants it any more, and returns when nothing of it is left.
    func abandon() async {
        let running = state.withLock { state in
            state.isOver = true
            defer { state.running = nil }
            return state.running
        }
        guard let running else { return }
        running.pipe.hangUp()
        if case .renditions = await running.result.value {
            try? staging.remove(RenderStep.workingName(.thumbnail))
        }
    }

    // MARK: Work

    private func start(_ work: EarlyWork, on body: ArrivingBody, told: Int) -> Running? {
        guard let pipe = try? BytePipe() else { return nil }
        let result = Task { [self] in
            // Nothing that goes wrong here is an error: it is all done again, when the file is there.
            let made = try? await engine().inTurnIfFree { place in
                try await perform(work, total: body.bytes, arrivals: pipe.readEnd, place)
            }
            pipe.hangUp()
            return made ?? nil
        }
        Task { await watch(pipe) }
        return Running(work: work, body: body, pipe: pipe, result: result, start: .now, told: told)
    }

    private func perform(
        _ work: EarlyWork, total: Int, arrivals: CInt, _ engine: any MediaEngine
    ) async throws -> EarlyResult {
        switch work {
        case .thumbnail(var request):
            request.isArriving = true
            return .renditions(
                try await RenderStep(
                    request: request, source: source.descriptor, arrivals: arrivals, engine: engine,
                    blocking: blocking, staging: staging, deadline: deadline
                ).run())
        case .inspection(var question):
            question.arrivingBytes = total
            let (media, thumbnail) = try await InspectStep(
                question: question, source: source.descriptor, arrivals: arrivals, engine: engine, staging: staging,
                deadline: deadline
            ).run()
            return .inspection(media, thumbnail)
        }
    }

    /// Gives the slot back when the file does not go on.
    private func watch(_ pipe: BytePipe) async {
        let silence = Duration.seconds(Limits.earlySilenceSecondsMax)
        // Bounded: a time limit of ours.
        var end = ContinuousClock.now + silence
        while end > .now {
            try? await ContinuousClock().sleep(until: end)
            // Bounded: a time limit of ours.
            end = state.withLock { $0.lastArrival } + silence
        }
        pipe.hangUp()
    }
}
