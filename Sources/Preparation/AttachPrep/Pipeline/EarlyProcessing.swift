import Linux
import MediaEngine
import MediaTypes
import SafeArithmetic
import Synchronization

/// Processes a source while it downloads: when the last byte is received, the thumbnail of an image that is delivered
/// unchanged, or the inspection of a movie, is nearly done.
///
/// It uses a media slot only when one is free and the download is about to end, and releases it when the download
/// stalls. A result is used only for an equal request on the same body, else it is discarded.
final class EarlyProcessing: FetchObserver {
    private struct State {
        var format: MediaFormat?
        /// Generation of the body that is being received.
        var generation = 0
        /// When the body began.
        var began = ContinuousClock.now
        var running: Running?
        /// Whether early work was started, or must not start any more.
        var isOver = false
        var lastReceived = ContinuousClock.now
    }

    private struct Running {
        let work: EarlyWork
        let body: DownloadBody
        let pipe: BytePipe
        let result: Task<EarlyResult?, Never>
        let start: ContinuousClock.Instant
        /// Bytes that were received at the last signal to the media process.
        var signaledBytes: Int
    }

    private let request: AttachmentRequest
    private let engine: @Sendable () -> any MediaEngine
    private let source: OwnedDescriptor
    private let blocking: BlockingThread
    private let staging: StagingFolder
    private let deadline: ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameter engine: The engine that records strikes against the source; called when work begins.
    init(
        request: AttachmentRequest, source: OwnedDescriptor, blocking: BlockingThread, staging: StagingFolder,
        deadline: ContinuousClock.Instant, engine: @escaping @Sendable () -> any MediaEngine
    ) {
        self.request = request
        self.source = source
        self.blocking = blocking
        self.staging = staging
        self.deadline = deadline
        self.engine = engine
    }

    // MARK: Download events

    func identified(as format: MediaFormat) {
        state.withLock { $0.format = format }
    }

    func bodyBegan(generation: Int) {
        state.withLock { state in
            // The earlier body is discarded; `completed` discards the work on it.
            state.running?.pipe.closeWriteEnd()
            state.isOver = state.isOver || state.running != nil
            state.generation = generation
            state.format = nil
            state.began = .now
        }
    }

    func received(bytes: Int, of total: Int?) {
        state.withLock { state in
            state.lastReceived = .now
            if let running = state.running {
                guard bytes.subtracting(clamping: running.signaledBytes) >= Limits.earlySignalBytes else { return }
                running.pipe.send(DownloadSignal.more.rawValue)
                state.running?.signaledBytes = bytes
            } else if !state.isOver, let total, let format = state.format,
                EarlyProcessingPolicy.isDue(
                    format.kind, bytes: bytes, of: total, in: state.began.duration(to: .now) / .seconds(1))
            {
                state.isOver = true
                if let work = EarlyProcessingPolicy.plannedWork(format, bytes: total, for: request) {
                    state.running = start(
                        work, on: DownloadBody(generation: state.generation, bytes: total), signaledBytes: bytes)
                }
            }
        }
    }

    /// When this returns, work on any other body has ended and its files are removed.
    func completed(_ body: DownloadBody) async {
        let isSameBody = state.withLock { state in
            state.isOver = true
            guard let running = state.running, running.body == body else { return false }
            running.pipe.send(DownloadSignal.complete.rawValue)
            return true
        }
        if !isSameBody { await abandon() }
    }

    // MARK: Results

    /// The early renditions for an equal request, with the time they took in milliseconds; nil without any.
    func renditions(for wanted: RenderRequest?) async -> (renditions: Renditions, milliseconds: Double)? {
        guard let (result, milliseconds) = await result(of: wanted.map(EarlyWork.thumbnail)),
            case .renditions(let renditions) = result
        else { return nil }
        return (renditions, milliseconds)
    }

    /// The early inspection for an equal request, with the time it took in milliseconds; nil without one.
    func inspection(
        for wanted: InspectRequest
    ) async -> (media: InspectedMedia, thumbnail: EarlyThumbnail?, milliseconds: Double)? {
        // Early work on a thumbnail continues meanwhile.
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

    /// Cancels early work, and returns after it has ended and its files are removed.
    func abandon() async {
        let running = state.withLock { state in
            state.isOver = true
            defer { state.running = nil }
            return state.running
        }
        guard let running else { return }
        running.pipe.closeWriteEnd()
        if case .renditions = await running.result.value, case .thumbnail(let request) = running.work {
            for output in request.outputs { try? staging.remove(RenderStep.workingName(output)) }
        }
    }

    // MARK: Work

    private func start(_ work: EarlyWork, on body: DownloadBody, signaledBytes: Int) -> Running? {
        guard let pipe = try? BytePipe() else { return nil }
        let result = Task { [self] in
            // Errors of early work are ignored: the pipeline repeats it on the complete file.
            let made = try? await engine().withFreeSlot { slot in
                try await perform(work, total: body.bytes, signals: pipe.readEnd, engine: slot)
            }
            pipe.closeWriteEnd()
            return made ?? nil
        }
        Task { await releaseSlotOnSilence(of: pipe) }
        return Running(work: work, body: body, pipe: pipe, result: result, start: .now, signaledBytes: signaledBytes)
    }

    private func perform(
        _ work: EarlyWork, total: Int, signals: CInt, engine: any MediaEngine
    ) async throws -> EarlyResult {
        switch work {
        case .thumbnail(var request):
            request.isDownloading = true
            return .renditions(
                try await RenderStep(
                    request: request, source: source.descriptor, signals: signals, engine: engine,
                    blocking: blocking, staging: staging, deadline: deadline
                ).run())
        case .inspection(var query):
            query.downloadingBytes = total
            let (media, thumbnail) = try await InspectStep(
                query: query, source: source.descriptor, signals: signals, engine: engine, staging: staging,
                deadline: deadline
            ).run()
            return .inspection(media, thumbnail)
        }
    }

    /// Releases the slot when no bytes are received for `earlySilenceSecondsMax` seconds.
    private func releaseSlotOnSilence(of pipe: BytePipe) async {
        let silence = Duration.seconds(Limits.earlySilenceSecondsMax)
        var end = ContinuousClock.now + silence
        while end > .now {
            try? await ContinuousClock().sleep(until: end)
            end = state.withLock { $0.lastReceived } + silence
        }
        pipe.closeWriteEnd()
    }
}

/// Whether, when and how a source is processed while it downloads. Pure.
enum EarlyProcessingPolicy {
    /// Whether the download is expected to end soon enough to hold a media slot for it.
    ///
    /// - Parameters:
    ///   - bytes: Bytes that were received, of `total`.
    ///   - seconds: Seconds in which they were received.
    static func isDue(_ kind: MediaKind, bytes: Int, of total: Int, in seconds: Double) -> Bool {
        guard total >= Limits.earlySourceBytesMin, bytes >= Limits.earlyReceivedBytesMin else { return false }
        let left = Double(max(0, total.subtracting(clamping: bytes))) / Double(bytes) * seconds
        return left <= (kind == .movie ? Limits.earlyMovieSecondsLeftMax : Limits.earlySecondsLeftMax)
    }

    /// The work that a source of this format and size will need, if its content confirms the format; nil for none.
    static func plannedWork(_ format: MediaFormat, bytes: Int, for request: AttachmentRequest) -> EarlyWork? {
        switch format {
        case .jpeg, .png:
            ThumbnailPrediction(format: format, bytes: bytes, request: request).render.map(EarlyWork.thumbnail)
        case .mpeg4, .m4v, .quickTime:
            .inspection(InspectStep.query(format: format, bytes: bytes, for: request))
        default: nil
        }
    }
}

/// Work that can be done while a source downloads.
enum EarlyWork: Sendable, Hashable {
    /// The thumbnail of an image that is delivered unchanged.
    case thumbnail(RenderRequest)
    /// The inspection of a movie.
    case inspection(InspectRequest)
}

/// The result of early work.
enum EarlyResult: Sendable {
    case renditions(Renditions)
    case inspection(InspectedMedia, EarlyThumbnail?)
}

extension Limits {
    /// Smallest source that is decoded before its download ends; smaller ones decode faster than early work starts, and
    /// have their thumbnail made with their inspection.
    static let earlySourceBytesMin = 500_000
    /// Bytes that must be received before early work: the headers of a photo, and enough to estimate the transfer rate.
    static let earlyReceivedBytesMin = 262_144
    /// Longest estimated time until the last byte when early decoding starts: it occupies a media slot, and decoding at
    /// 1/8 takes about 0.1 s.
    static let earlySecondsLeftMax = 0.2
    /// The same for a movie, whose validation decodes hundreds of frames: 0.5 s of work.
    static let earlyMovieSecondsLeftMax = 0.6
    /// Early work gives up its media slot after this long without a byte.
    static let earlySilenceSecondsMax = 0.3
    /// Bytes between two signals to readers of a source that is downloading: 0.5 ms of work.
    static let earlySignalBytes = 65_536
}
