import AttachPrepModel
import Glibc
import Linux
public import MediaEngine
import MediaTypes
import SafeArithmetic

/// Runs every escape attempt, each in a process of its own in which only the layer under test is enabled.
struct SandboxCheck: Sendable {
    /// The path of `attachprep-media`.
    let executable: String

    /// - Returns: One result per attempt, in the order of `EscapeKind`.
    /// - Throws: `internal` when the program cannot be started.
    func run() async throws -> [SandboxCheckResult] {
        try await withThrowingTaskGroup(of: SandboxCheckResult.self) { group in
            for attempt in EscapeKind.allCases {
                group.addTask { SandboxCheckResult(attempt, ending: try await ending(of: attempt)) }
            }
            var findings: [EscapeKind: SandboxCheckResult] = [:]
            for try await finding in group { findings[finding.attempt] = finding }
            return EscapeKind.allCases.compactMap { findings[$0] }
        }
    }

    /// How the process that made the attempt ended.
    private func ending(of attempt: EscapeKind) async throws -> ChildProcess.Ending {
        do {
            // PR_SET_PDEATHSIG follows the thread that spawned the process; here that thread must end first.
            guard attempt == .outliveParent else {
                return try await onThread { try SandboxProbeProcess(executable, attempt).ending }
            }
            let orphan = try await onThread {
                let trial = try SandboxProbeProcess(executable, attempt)
                try trial.waitUntilReady()
                return trial
            }
            return try await onThread { orphan.ending }
        } catch {
            throw AttachPrepError(
                .internal, "The media process could not be started; reinstall attachprep-media beside attachprep.",
                detail: "\(error)")
        }
    }

    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try DedicatedThread.start(name: "sandbox-check") {
                    continuation.resume(with: Swift.Result { try body() })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}

/// The result of one attempt to escape through one sandbox layer.
public struct SandboxCheckResult: Codable, Sendable, Hashable {
    /// The layer under test.
    public let layer: SandboxLayer
    /// The attempt.
    public let attempt: EscapeKind
    /// Whether the layer blocked it.
    public let isBlocked: Bool
    /// How it was blocked, or why it was not: a sentence without a full stop.
    public let explanation: String

    /// `attachprep doctor --format json` prints these names, so they do not change.
    private enum CodingKeys: String, CodingKey {
        case attempt
        case layer = "wall"
        case isBlocked = "holds"
        case explanation = "how"
    }

    /// Derives the result from how the process ended. Pure.
    init(_ attempt: EscapeKind, ending: ChildProcess.Ending) {
        self.attempt = attempt
        layer = attempt.layer
        (isBlocked, explanation) = Self.reading(attempt, ending: ending)
    }

    private static func reading(_ attempt: EscapeKind, ending: ChildProcess.Ending) -> (Bool, String) {
        switch (attempt, ending) {
        case (_, .exited(MediaProcessExit.attemptBlocked)): (true, "blocked")
        case (_, .exited(MediaProcessExit.sandboxUnavailable)): (false, missing(attempt.layer))
        // A program that it executed, or a process that it forked, ends with 0.
        case (_, .exited(MediaProcessExit.attemptSucceeded)), (_, .exited(0)): (false, "it was not blocked")
        case (_, .killed(SIGSYS)) where attempt.layer == .systemCalls: (true, "the process was killed")
        case (.spin, .killed(SIGXCPU)), (.spin, .killed(SIGKILL)): (true, "the process was killed")
        case (.outliveParent, .killed(SIGKILL)): (true, "the process was killed with its parent")
        case (_, .exited), (_, .killed): (false, "the attempt could not be run: \(ending.sentence)")
        }
    }

    private static func missing(_ layer: SandboxLayer) -> String {
        switch layer {
        case .files: "this kernel has no Landlock; use Linux 5.13 or newer with landlock in its lsm= list"
        case .systemCalls: "this kernel or container has no seccomp filters"
        default: "it cannot be enabled on this machine"
        }
    }
}

/// A process that makes one escape attempt.
struct SandboxProbeProcess: Sendable {
    private let process: ChildProcess
    private let socket: MessageSocket

    init(_ executable: String, _ attempt: EscapeKind) throws {
        let (ours, theirs) = try MessageSocket.pair()
        socket = ours
        process = try ChildProcess.spawn(
            path: executable, arguments: [MediaProcessArgument.attempt, attempt.rawValue], socket: theirs)
        // The pool sets this limit from outside as well.
        if attempt == .spin { try ProcessLimits.limitProcessorTime(seconds: 1, of: process) }
    }

    /// Waits until the layer is enabled.
    func waitUntilReady() throws {
        _ = try socket.waitUntilReadable(deadline: .now + .seconds(clamping: Limits.mediaProcessStartSecondsMax))
    }

    /// Waits for the end; a process that has to be killed has escaped.
    var ending: ChildProcess.Ending {
        guard process.waitUntilEnded(milliseconds: Int(clamping: Limits.mediaProcessStartSecondsMax * 1000)) else {
            process.kill()
            _ = process.reap()
            return .exited(code: MediaProcessExit.attemptSucceeded)
        }
        return process.reap()
    }
}
