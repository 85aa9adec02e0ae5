import AttachPrepModel
import Glibc
import Linux
import MediaEngine
package import MediaTypes
import Synchronization

/// The parent's side of one media process: starts it, sends calls, ends it after an error and prepares its successor.
/// Must be used on one thread only.
final class MediaProcessChannel {
    private let program: MediaProcessConfiguration
    private let statistics: MediaProcessStatistics
    private var current: MediaProcess?
    /// Loads its libraries while the current process still works.
    private var successor: MediaProcess?
    /// Whether any process of this executable has ever become ready.
    private var hasEverBeenReady = false

    init(_ program: MediaProcessConfiguration, statistics: MediaProcessStatistics) {
        self.program = program
        self.statistics = statistics
    }

    /// The sockets on which messages or the end of a process can arrive between calls.
    var descriptors: [CInt] { [current?.descriptor, successor?.descriptor].compactMap(\.self) }

    /// Whether a call can begin without waiting for libraries to load.
    var isWarm: Bool { current?.isReady ?? false }

    /// Starts the process without waiting for it; an error is reported by the first call, which tries again.
    func warmUp() {
        if current == nil { current = try? start() }
    }

    /// Performs one call; a process that does not answer by the deadline is killed.
    func perform(_ pendingCall: PendingMediaCall) throws -> MediaAnswer {
        defer { pendingCall.end() }
        handlePendingEvents()
        do {
            return try perform(pendingCall, by: try current ?? startForCall())
        } catch let startupError as StartupError {
            // Earlier processes of this executable did start, so one retry is worthwhile.
            guard hasEverBeenReady else { throw startupError.error }
            do {
                return try perform(pendingCall, by: try startForCall())
            } catch let again as StartupError {
                throw again.error
            }
        }
    }

    /// Prepares for the next call, after the caller has its answer: replaces the process or starts its successor.
    func prepareNext() {
        guard let mediaProcess = current else {
            if hasEverBeenReady { warmUp() }
            return
        }
        mediaProcess.markIdle()
        switch MediaProcessRecycling(
            calls: mediaProcess.calls, age: mediaProcess.age, residentBytes: mediaProcess.usage.residentBytes)
        {
        case .none: break
        case .whenSuccessorReady: if successor == nil { successor = try? start() }
        case .immediately:
            current = successor ?? (try? start())
            successor = nil
            statistics.countRecycled()
            _ = end(mediaProcess)
        }
    }

    /// Handles messages from processes, and ends of processes, that arrived while no call was in progress.
    func handlePendingEvents() {
        if let mediaProcess = current, mediaProcess.isReadable, let ending = endUnlessReady(mediaProcess) {
            current = nil
            statistics.countFailed(MediaProcessFailure(.connectionClosed, ending, isReady: mediaProcess.isReady))
            // A process that was ready is replaced at once; one that never was would only fail again.
            if mediaProcess.isReady { warmUp() }
        }
        guard let mediaProcess = successor, mediaProcess.isReadable else { return }
        successor = nil
        guard endUnlessReady(mediaProcess) == nil else { return }
        if let former = current {
            statistics.countRecycled()
            _ = end(former)
        }
        current = mediaProcess
    }

    /// Ends both processes.
    func stop() {
        for mediaProcess in [current, successor] { if let mediaProcess { _ = end(mediaProcess) } }
        (current, successor) = (nil, nil)
    }

    /// Receives the `ready` message and returns nil; a process that has ended, or sent anything else, is killed, and
    /// how it ended is returned.
    private func endUnlessReady(_ mediaProcess: MediaProcess) -> ChildProcess.Ending? {
        if let isReadyMessage = try? mediaProcess.receive() == nil, isReadyMessage {
            hasEverBeenReady = true
            return nil
        }
        return endAfterClosing(mediaProcess)
    }

    /// Waits for a process that has closed its socket, since its exit code or signal tells the cause, and reaps it.
    private func endAfterClosing(_ mediaProcess: MediaProcess) -> ChildProcess.Ending {
        _ = mediaProcess.process.waitUntilEnded(milliseconds: Limits.mediaProcessEndMillisecondsMax)
        return end(mediaProcess)
    }

    private func end(_ mediaProcess: MediaProcess) -> ChildProcess.Ending {
        statistics.willEnd(mediaProcess)
        return mediaProcess.end()
    }

    // MARK: One call

    /// A process ended while it was loading its libraries, so no file can have caused it.
    private struct StartupError: Error {
        let error: AttachPrepError
    }

    private func perform(_ pendingCall: PendingMediaCall, by mediaProcess: MediaProcess) throws -> MediaAnswer {
        current = mediaProcess
        guard pendingCall.begin(on: mediaProcess.process) else { throw AttachPrepError.cancelled }
        var exchange = MediaCallExchange(pendingCall, mediaProcess)
        do {
            defer { hasEverBeenReady = hasEverBeenReady || mediaProcess.isReady }
            return try exchange.run()
        } catch let processError as MediaProcessError {
            let ending = terminate(mediaProcess, processError: processError)
            let isCancelled = pendingCall.isCancelled
            statistics.countFailed(
                isCancelled ? .cancelled : MediaProcessFailure(processError, ending, isReady: mediaProcess.isReady))
            if isCancelled { throw AttachPrepError.cancelled }
            // What a render had written before its deadline is used.
            if processError == .deadlineExceeded, let written = exchange.written { return .rendered(written) }
            let error = ProcessEndingDiagnosis.error(
                processError, ending: ending, isReady: mediaProcess.isReady, allowance: mediaProcess.allowance)
            throw processError == .connectionClosed && !mediaProcess.isReady ? StartupError(error: error) : error
        }
    }

    private func terminate(_ mediaProcess: MediaProcess, processError: MediaProcessError) -> ChildProcess.Ending {
        current = nil
        // The exit code or signal of a process that is about to end tells whether the file caused it.
        return processError == .connectionClosed ? endAfterClosing(mediaProcess) : end(mediaProcess)
    }

    private func startForCall() throws -> MediaProcess {
        do {
            return try start()
        } catch {
            throw AttachPrepError(
                .internal, "The media process could not be started; run attachprep doctor.", detail: "\(error)")
        }
    }

    private func start() throws(SystemError) -> MediaProcess {
        let mediaProcess = try MediaProcess.start(program)
        statistics.started(mediaProcess)
        return mediaProcess
    }
}

/// One call: sends it, waits for the answer while watching the process's memory, and validates the answer.
struct MediaCallExchange {
    let pendingCall: PendingMediaCall
    let mediaProcess: MediaProcess
    /// What the render had written at its last progress message.
    private(set) var written: RenderedMedia?
    private var messages = 0

    init(_ pendingCall: PendingMediaCall, _ mediaProcess: MediaProcess) {
        self.pendingCall = pendingCall
        self.mediaProcess = mediaProcess
    }

    /// A check takes 2 µs. A decoder that touches 1 GB/s gets 11 MB further between two checks.
    private static let watchInterval = Duration.milliseconds(10)

    /// - Throws: `MediaProcessError` when the process must be ended, else the error that it answered with.
    mutating func run() throws -> MediaAnswer {
        try mappingSocketErrors { try mediaProcess.send(pendingCall) }
        while true {
            try waitForMessage()
            guard let content = try mediaProcess.receive() else { continue }
            try count()
            switch try AnswerValidation(pendingCall: pendingCall).validated(content) {
            case .ready: throw MediaProcessError.invalidAnswer("a second ready message")
            case .progress(let media): written = media
            case .work(let report): mediaProcess.record(report)
            case .answer(let answer): return answer
            case .failure(let error): throw error
            }
        }
    }

    private func waitForMessage() throws {
        while true {
            let now = ContinuousClock.now
            guard now < pendingCall.deadline else { throw MediaProcessError.deadlineExceeded }
            let next = min(pendingCall.deadline, now + Self.watchInterval)
            if try mappingSocketErrors({ try mediaProcess.waitUntilReadable(deadline: next) }) { return }
            if let bytes = mediaProcess.usage.residentBytes, bytes > Limits.mediaProcessMemoryBytesMax {
                throw MediaProcessError.memoryLimitExceeded(bytes)
            }
        }
    }

    private func mappingSocketErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SystemError {
            // The process has ended already.
            if error.code == EPIPE || error.code == ECONNRESET { throw MediaProcessError.connectionClosed }
            // A process that has answered has read everything, so its socket buffer cannot be full.
            if error.code == EAGAIN { throw MediaProcessError.invalidAnswer("does not read its socket") }
            throw MediaProcessError.unreachable(error.description)
        }
    }

    /// Without a limit, a process that sends messages endlessly would be served until its deadline.
    private mutating func count() throws {
        messages += 1
        guard messages <= Limits.mediaProcessMessagesMax else {
            throw MediaProcessError.invalidAnswer("\(messages) messages")
        }
    }
}

/// One call in a worker's queue, and whether it was cancelled.
final class PendingMediaCall: Sendable {
    let call: MediaCall
    /// Borrowed from the caller, which keeps them open until the answer arrives.
    let descriptors: [CInt]
    let deadline: ContinuousClock.Instant
    private let state = Mutex(State())

    private struct State {
        var isCancelled = false
        var process: ChildProcess?
    }

    init(call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) {
        self.call = call
        self.descriptors = descriptors
        self.deadline = deadline
    }

    /// The bytes of its file; of one that is downloading, those that are expected, where that is known.
    var sourceBytes: Int {
        if case .inspect(let request) = call, let bytes = request.downloadingBytes { return bytes }
        var status = stat()
        guard let source = descriptors.first, unsafe fstat(source, &status) == 0 else { return 0 }
        return status.st_size
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Records which process works on the call; false when the call was cancelled.
    func begin(on process: ChildProcess) -> Bool {
        state.withLock { state in
            state.process = process
            return !state.isCancelled
        }
    }

    /// Detaches the process, which may be given another call from now on.
    func end() {
        state.withLock { $0.process = nil }
    }

    /// Kills the process: a decoder cannot be interrupted in any other way.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.process?.kill()
        }
    }
}

extension String {
    /// Truncates to `characters` Unicode scalars and replaces control characters by `?`: some texts come from files.
    func bounded(characters: Int) -> String {
        let scalars = unicodeScalars.prefix(characters).map { scalar in
            scalar.properties.generalCategory == .control ? "?" : scalar
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// The same with the limit for sentences, `Limits.mediaProcessSentenceCharactersMax`.
    var boundedSentence: String { bounded(characters: Limits.mediaProcessSentenceCharactersMax) }
}

extension IdentifiedMedia {
    var bounded: IdentifiedMedia {
        IdentifiedMedia(format: format, magicMIMEType: magicMIMEType.boundedSentence)
    }
}

extension InspectedMedia {
    var bounded: InspectedMedia {
        var media = self
        media.color = color?.boundedSentence
        if let video {
            media.video?.codec = video.codec.boundedSentence
            media.video?.codecTag = video.codecTag.boundedSentence
            media.video?.profile = video.profile?.boundedSentence
            media.video?.pixelFormat = video.pixelFormat?.boundedSentence
        }
        media.audio = audio.map { stream in
            var stream = stream
            stream.codec = stream.codec.boundedSentence
            return stream
        }
        return media
    }
}

extension RenderedMedia {
    var bounded: RenderedMedia {
        var media = self
        media.reductions = reductions.map(\.boundedSentence)
        media.warnings = warnings.map { PreparationWarning($0.code, $0.message.boundedSentence) }
        return media
    }
}

extension Limits {
    /// Resident memory of a media process in the worst case. Measured: 54 MB with its libraries, at most 670 MB for
    /// images at their limits (120 megapixels with alpha, 108-megapixel JPEG, TIFF and WebP, 48-megapixel HEIC of 10
    /// bits); a third of that is added for fragmentation.
    package static let mediaProcessMemoryBytesMax = 900_000_000
    /// Messages of one call: its answer, one for each of the few stages of a render and for each picture of a target,
    /// and up to nine about its work.
    static let mediaProcessMessagesMax = 48
    /// Characters of an error message from a media process; regular ones have under 200.
    static let mediaProcessSentenceCharactersMax = 500
    /// From closing its socket to the end of the process, which needs some time to free its memory.
    static let mediaProcessEndMillisecondsMax = 500
}
