import Glibc
import Linux
import MediaEngine
import RichPush

/// The parent's end of one child: starts it, sends a call, waits, and replaces it when it fails. Stays on its thread.
final class MediaChildLink {
    private struct Running {
        let child: ChildProcess
        let socket: MessageSocket
        var calls = 0
    }

    private let executable: String
    private var running: Running?
    /// Whether any child of this executable ever answered: one that cannot even start is no fault of the file.
    private var hasAnswered = false

    /// What a child may know of our environment: nothing but what keeps its memory small.
    private static let environment = ["LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2"]

    init(executable: String) {
        self.executable = executable
    }

    /// Starts the child without waiting for it; a failure is met again, and told, by the first call.
    func warmUp() {
        if running == nil { running = try? start() }
    }

    /// Does one call; a child that does not answer in time is killed.
    func perform(_ job: MediaJob) throws -> MediaAnswer {
        defer { job.end() }
        // A child that ended while it was idle, as the kernel ends one when memory is short, is no fault of this file.
        if let running, running.calls >= Limits.childCallsMax || running.child.hasEnded { retire(running) }
        let current = try running ?? startForCall()
        running = current
        running?.calls += 1
        guard job.begin(on: current.child) else { throw AttachPrepError.cancelled }
        return try exchange(job, with: current)
    }

    /// Closes the socket, which ends the child.
    func stop() {
        if let running { retire(running) }
    }

    private func exchange(_ job: MediaJob, with current: Running) throws -> MediaAnswer {
        let left = max(0, ContinuousClock.now.duration(to: job.deadline).milliseconds)
        let message = MediaCallMessage(call: job.call, millisecondsLeft: Int(left))
        do {
            try current.socket.send(MediaMessageCoding.encode(message), descriptors: job.descriptors)
            return try reply(job, from: current)
        } catch let error as SystemError {
            // A child that is gone already cannot be sent anything.
            throw error.code == EPIPE || error.code == ECONNRESET
                ? mourn(current, job) : bury(current, nil, job: job, detail: "\(error)")
        }
    }

    /// Waits for the answer. What a render had written before its deadline stands; the child is ended all the same.
    private func reply(_ job: MediaJob, from current: Running) throws -> MediaAnswer {
        var progress: RenderedMedia?
        while true {
            guard try current.socket.waitUntilReadable(deadline: job.deadline) else {
                let late = bury(current, AttachPrepError.deadlinePassed(at: "media work"))
                guard let progress else { throw late }
                return .rendered(progress)
            }
            guard let reply = try current.socket.receive(bytesMax: Limits.childMessageBytesMax) else {
                throw mourn(current, job)
            }
            switch try answer(reply, from: current, job: job) {
            case .progress(let written): progress = written
            case .answer(let answer): return answer
            case .failure(let error): throw error
            }
        }
    }

    /// A child whose words make no sense is not asked again.
    private func answer(_ reply: MessageSocket.Message, from current: Running, job: MediaJob) throws
        -> MediaAnswerMessage
    {
        let message: MediaAnswerMessage
        do {
            message = try MediaMessageCoding.decode(MediaAnswerMessage.self, from: reply.bytes)
        } catch {
            throw bury(current, nil, job: job, detail: "answered nonsense: \(error)")
        }
        hasAnswered = true
        return message
    }

    /// A child that closed its socket is about to end: how it ends says whose fault it was.
    private func mourn(_ current: Running, _ job: MediaJob) -> AttachPrepError {
        let hasEnded = current.child.waitUntilEnded(milliseconds: Limits.childEndMillisecondsMax)
        let isUseless = hasEnded && !hasAnswered && !job.isCancelled
        let error = bury(current, nil, job: job, detail: "closed its socket")
        guard isUseless, case .exited = current.child.reap() else { return error }
        return AttachPrepError(
            .internal, "The media process ended before it could work; run attachprep doctor.",
            detail: error.detail, isRetryable: false)
    }

    /// Kills and reaps the child, and says which error its end was.
    private func bury(_ current: Running, _ known: AttachPrepError?, job: MediaJob? = nil, detail: String = "")
        -> AttachPrepError
    {
        current.child.kill()
        let ending = current.child.reap()
        running = nil
        if let known { return known }
        if let job, job.isCancelled { return AttachPrepError.cancelled }
        return AttachPrepError(
            .mediaDecoderCrashed,
            "The decoder crashed on this file; try once more, then check the file at its source.",
            detail: "\(ending), \(detail)")
    }

    private func startForCall() throws -> Running {
        do {
            return try start()
        } catch {
            throw AttachPrepError(
                .internal, "The media process could not be started; run attachprep doctor.", detail: "\(error)")
        }
    }

    private func start() throws(SystemError) -> Running {
        let (ours, theirs) = try MessageSocket.pair()
        let child = try ChildProcess.spawn(path: executable, socket: theirs, environment: Self.environment)
        return Running(child: child, socket: ours)
    }

    /// Ends an idle child: the end of the file on its socket is its sign to go.
    private func retire(_ current: Running) {
        running = nil
        current.child.kill()
        _ = current.child.reap()
    }
}
