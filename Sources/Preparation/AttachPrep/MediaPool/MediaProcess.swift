import AttachPrepModel
import Foundation
import Glibc
import Linux
import MediaEngine
package import MediaTypes
import SafeArithmetic

/// One running media process: its process, its socket, its usage and its number of calls.
final class MediaProcess {
    let process: ChildProcess
    let usage: ProcessUsage
    private let socket: MessageSocket
    private let started = ContinuousClock.now
    private(set) var calls = 0
    /// Whether it has loaded its libraries; before that it has received no file.
    private(set) var isReady = false
    /// The deadline of the current call, or of the start.
    private var deadline: ContinuousClock.Instant
    /// What the current or the last call may take, and the processor time used before it; nil before the first one.
    private(set) var allowance: ProcessorAllowance?
    private var usedBefore = 0.0

    /// The whole environment of a media process: one malloc arena, because each keeps freed memory (with two, a batch
    /// of mixed files needs an eighth more in all), a time zone that needs no file, and no backtraces, because writing
    /// one starts another program.
    private static let environment = [
        "LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "1", "TZ": "UTC0", "SWIFT_BACKTRACE": "enable=no",
    ]

    init(process: ChildProcess, usage: ProcessUsage, socket: MessageSocket) {
        self.process = process
        self.usage = usage
        self.socket = socket
        deadline = started + .seconds(clamping: Limits.mediaProcessStartSecondsMax)
        limitProcessor(to: timeLeft)
    }

    /// Starts a media process without waiting for it; messages sent meanwhile are buffered in its socket.
    static func start(_ program: MediaProcessConfiguration) throws(SystemError) -> MediaProcess {
        let (ours, theirs) = try MessageSocket.pair()
        let process = try ChildProcess.spawn(
            path: program.executable, arguments: program.arguments, socket: theirs, environment: environment)
        do {
            // Set before it loads its libraries, so that all of its threads inherit it.
            if program.niceness > 0 { try ProcessLimits.lowerPriority(by: program.niceness, process) }
            return MediaProcess(process: process, usage: try ProcessUsage(of: process), socket: ours)
        } catch {
            process.kill()
            _ = process.reap()
            throw error
        }
    }

    /// Readable when the process has sent a message or has ended.
    var descriptor: CInt { socket.descriptor }

    var age: Duration { started.duration(to: .now) }

    /// Whether a message or the end of the process is pending.
    var isReadable: Bool { (try? socket.isReadable()) ?? true }

    /// Sends a call, and limits its processor time by the bytes of its file.
    func send(_ pendingCall: PendingMediaCall) throws {
        calls += 1
        deadline = pendingCall.deadline
        allowance = ProcessorAllowance(pendingCall.call, bytes: pendingCall.sourceBytes)
        usedBefore = usage.processorSeconds ?? 0
        limitProcessor()
        let left = max(0, ContinuousClock.now.duration(to: deadline).milliseconds)
        let message = MediaCallMessage(number: calls, call: pendingCall.call, millisecondsLeft: Int(clamping: left))
        try socket.send(MediaMessageCoding.encode(message), descriptors: pendingCall.descriptors, waits: false)
    }

    /// Waits until a message or the end of the process is pending; false when the deadline comes first.
    func waitUntilReadable(deadline: ContinuousClock.Instant) throws -> Bool {
        try socket.waitUntilReadable(deadline: deadline)
    }

    /// Receives the next message for the current call; nil for the initial `ready` message, which may arrive late.
    ///
    /// - Throws: `MediaProcessError`.
    func receive() throws -> MediaAnswerMessage.Content? {
        let bytes: [UInt8]?
        do {
            bytes = try socket.receiveBytes(bytesMax: Limits.mediaProcessMessageBytesMax)
        } catch {
            throw MediaProcessError.invalidAnswer("\(error)")
        }
        guard let bytes else { throw MediaProcessError.connectionClosed }
        guard let message = try? MediaMessageCoding.decode(MediaAnswerMessage.self, from: bytes) else {
            throw MediaProcessError.invalidAnswer("a message of \(bytes.count) bytes that cannot be decoded")
        }
        if message == .ready, !isReady {
            isReady = true
            return nil
        }
        guard message.number == calls, calls > 0 else {
            throw MediaProcessError.invalidAnswer("answered call \(message.number) during call \(calls)")
        }
        isReady = true
        return message.content
    }

    /// Limits the processor time of the current call by what it reports of its file.
    func record(_ report: WorkReport) {
        allowance?.record(report)
        limitProcessor()
    }

    /// Lowers the processor time limit to what an idle process needs.
    func markIdle() {
        deadline = .now
        limitProcessor(to: timeLeft)
    }

    /// Kills the process and returns how it ended.
    func end() -> ChildProcess.Ending {
        process.kill()
        return process.reap()
    }

    /// All cores may work on one file, so the processor time limit is multiplied by their number.
    private static let cores = Double(ProcessInfo.processInfo.activeProcessorCount)

    /// The processor time used now, and what all cores can use until the deadline.
    private var timeLeft: Double {
        let left = max(0, ContinuousClock.now.duration(to: deadline).milliseconds / 1000)
        return (usage.processorSeconds ?? 0) + left * Self.cores + Limits.mediaProcessSlackProcessorSeconds
    }

    private func limitProcessor() {
        guard let allowance else { return }
        limitProcessor(to: allowance.isEncoding ? timeLeft : usedBefore + allowance.seconds)
    }

    /// - Parameter limit: Seconds since the start of the process.
    private func limitProcessor(to limit: Double) {
        // Setting a limit fails only after the process has ended, which the next receive reports.
        try? ProcessLimits.limitProcessorTime(seconds: Int(clamping: limit.rounded(.up)), of: process)
    }
}

/// When a working media process is replaced. Pure.
enum MediaProcessRecycling: Hashable {
    /// It is kept.
    case none
    /// It is replaced when its successor is ready.
    case whenSuccessorReady
    /// It is replaced now: another file could push it over the memory limit, and that file would get the strike.
    case immediately

    /// - Parameter residentBytes: Resident memory after its last call; nil when it has ended.
    init(calls: Int, age: Duration, residentBytes: Int?) {
        if let residentBytes, residentBytes > Limits.mediaProcessIdleMemoryBytesMax {
            self = .immediately
        } else if calls >= Limits.mediaProcessCallsMax || age >= .seconds(clamping: Limits.mediaProcessAgeSecondsMax) {
            self = .whenSuccessorReady
        } else {
            self = .none
        }
    }
}

/// How a media process is started.
struct MediaProcessConfiguration: Sendable {
    /// The path of `attachprep-media`.
    let executable: String
    /// Whether a process without all sandbox layers must exit instead of working.
    let requiresSandbox: Bool
    /// Nice value of the media process, relative to the parent's: 0 to 19.
    var niceness = 0

    /// The command-line arguments.
    var arguments: [String] { requiresSandbox ? [MediaProcessArgument.requireSandbox] : [] }
}

/// Locates `attachprep-media`: ATTACHPREP_MEDIA, else beside the running executable, else in `../libexec`.
public enum MediaExecutable {
    /// The file name of the executable.
    public static let name = "attachprep-media"
    /// The environment variable that overrides the path.
    public static let variable = "ATTACHPREP_MEDIA"

    /// The path of the first candidate that is executable.
    ///
    /// - Throws: `internal`, with the paths that were tried.
    public static func locate() throws -> String {
        try locate(environment: ProcessInfo.processInfo.environment, runningExecutable: ownPath())
    }

    /// The same for a given environment and path of the running executable.
    package static func locate(environment: [String: String], runningExecutable: String) throws -> String {
        let candidates = candidates(environment: environment, runningExecutable: runningExecutable)
        guard let path = candidates.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw AttachPrepError(
                .internal,
                "\(name) was not found at \(candidates.joined(separator: " or ")); install it beside attachprep or "
                    + "set \(variable).",
                isRetryable: false)
        }
        return path
    }

    /// The candidate paths, in order. Pure.
    package static func candidates(environment: [String: String], runningExecutable: String) -> [String] {
        if let named = environment[variable], !named.isEmpty { return [named] }
        let folder = runningExecutable.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        return ["\(folder)/\(name)", "\(folder)/../libexec/\(name)"]
    }

    private static func ownPath() -> String {
        guard let path = unsafe realpath("/proc/self/exe", nil) else { return "" }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}

extension Limits {
    /// A media process is replaced after this many calls, so that one compromised by a file sees no more sources than
    /// that. A call for a small file takes some 0.1 ms, a start 40 ms of processor time.
    package static let mediaProcessCallsMax = 2_000
    /// And after an hour: to discard state that a file may have left in it, and to load updated libraries.
    static let mediaProcessAgeSecondsMax = 3_600.0
    /// And when its resident memory after a call exceeds this: with the largest image on top (670 MB including 54 MB of
    /// libraries) it would exceed `mediaProcessMemoryBytesMax`, and that file would get a strike.
    package static let mediaProcessIdleMemoryBytesMax = 250_000_000
    /// CPU seconds beyond the time left: CPU limits are whole seconds, and a busy machine is late.
    static let mediaProcessSlackProcessorSeconds = 2.0
    /// A media process that has not answered the first call by then is considered broken.
    package static let mediaProcessStartSecondsMax = 10.0
}
