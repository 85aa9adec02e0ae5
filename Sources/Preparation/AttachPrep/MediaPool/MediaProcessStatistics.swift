import Glibc
import Linux
import MediaEngine
import SafeArithmetic
import Synchronization

/// Why a media process ended before its replacement was due.
public enum MediaProcessFailure: String, CaseIterable, Sendable, Hashable {
    /// It had not answered when the deadline of its call passed.
    case deadline
    /// Its call was cancelled.
    case cancelled
    /// It exceeded its memory limit.
    case memory
    /// It exceeded its limit of processor time.
    case processor
    /// It made a system call that the sandbox does not allow.
    case sandbox
    /// It crashed, or the kernel's out-of-memory killer ended it.
    case crash
    /// It sent a message that is malformed or out of range.
    case invalidAnswer = "invalid_answer"
    /// It ended while it was loading its libraries.
    case start
    /// It cannot be sandboxed on this machine, and `--require-sandbox` is set.
    case sandboxUnavailable = "sandbox_unavailable"
    /// It was ended by another process, or its socket failed.
    case external

    /// - Parameter isReady: Whether it had loaded its libraries.
    init(_ error: MediaProcessError, _ ending: ChildProcess.Ending, isReady: Bool) {
        self =
            switch error {
            case .deadlineExceeded: .deadline
            case .memoryLimitExceeded: .memory
            case .invalidAnswer: .invalidAnswer
            case .unreachable: .external
            case .connectionClosed where isReady: Self.duringCall(ending)
            case .connectionClosed:
                ending == .exited(code: MediaProcessExit.sandboxUnavailable) ? .sandboxUnavailable : .start
            }
    }

    private static func duringCall(_ ending: ChildProcess.Ending) -> MediaProcessFailure {
        switch ending {
        case .killed(SIGXCPU): .processor
        case .killed(SIGSYS): .sandbox
        case .killed(SIGTERM), .killed(SIGINT), .killed(SIGHUP), .killed(SIGQUIT): .external
        case .killed, .exited: .crash
        }
    }
}

/// How many media processes were replaced, by reason.
public struct MediaProcessReplacements: Sendable, Hashable {
    /// Replaced after a crash, an exceeded limit, or being killed with its request.
    public var failed: Int
    /// Recycled because of age, number of calls or memory.
    public var recycled: Int

    public init(failed: Int = 0, recycled: Int = 0) {
        self.failed = failed
        self.recycled = recycled
    }
}

/// The resources of all media processes of a preparer.
public struct MediaProcessUsage: Sendable, Hashable {
    /// Running processes.
    public var processes = 0
    /// Resident memory of the running processes; memory that they share is counted in each.
    public var residentBytes = 0
    /// Processor time of running and ended processes.
    public var processorSeconds = 0.0

    public init() {}
}

/// Counts the media processes of a pool; the workers' threads count concurrently.
final class MediaProcessStatistics: Sendable {
    private struct State {
        var recycled = 0
        var failures: [MediaProcessFailure: Int] = [:]
        var running: [ObjectIdentifier: ProcessUsage] = [:]
    }

    private let state = Mutex(State())

    var replacements: MediaProcessReplacements {
        state.withLock { state in
            let failed = state.failures.values.reduce(0) { $0.adding(clamping: $1) }
            return MediaProcessReplacements(failed: failed, recycled: state.recycled)
        }
    }
    var failures: [MediaProcessFailure: Int] { state.withLock { $0.failures } }

    /// The usage now; some microseconds for each running process.
    var usage: MediaProcessUsage {
        var usage = MediaProcessUsage()
        // Read first: a process that is reaped meanwhile is missing in both, and never counted twice.
        usage.processorSeconds = OwnProcess.reapedProcessorSeconds
        // With the lock, since a process must not be reaped while it is read.
        state.withLock { state in
            usage.processes = state.running.count
            for process in state.running.values {
                usage.residentBytes = usage.residentBytes.adding(clamping: process.residentBytes ?? 0)
                usage.processorSeconds += process.processorSeconds ?? 0
            }
        }
        return usage
    }

    func started(_ mediaProcess: MediaProcess) {
        state.withLock { $0.running[ObjectIdentifier(mediaProcess.usage)] = mediaProcess.usage }
    }

    /// Call it before the process is reaped.
    func willEnd(_ mediaProcess: MediaProcess) {
        state.withLock { $0.running[ObjectIdentifier(mediaProcess.usage)] = nil }
    }

    func countFailed(_ failure: MediaProcessFailure) {
        state.withLock { $0.failures[failure, default: 0] += 1 }
    }

    func countRecycled() { state.withLock { $0.recycled += 1 } }
}
