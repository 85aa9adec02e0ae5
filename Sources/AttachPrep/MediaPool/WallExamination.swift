import Linux
import MediaEngine
import RichPush

/// Has every attempt made, each by a process of its own around which the one wall stands that has to stop it.
struct WallExamination: Sendable {
    /// The path of `attachprep-media`.
    let executable: String

    /// - Returns: a finding for each attempt, in the order of `WallAttempt`.
    /// - Throws: `internal` when the program cannot be started.
    func run() async throws -> [WallFinding] {
        try await withThrowingTaskGroup(of: WallFinding.self) { group in
            for attempt in WallAttempt.allCases {
                group.addTask { WallFinding(attempt, ending: try await ending(of: attempt)) }
            }
            var findings: [WallAttempt: WallFinding] = [:]
            for try await finding in group { findings[finding.attempt] = finding }
            return WallAttempt.allCases.compactMap { findings[$0] }
        }
    }

    /// How a process ended that made the attempt.
    private func ending(of attempt: WallAttempt) async throws -> ChildProcess.Ending {
        do {
            // The thread that started it is what a process takes for its parent: this one is to outlive it.
            guard attempt == .outliveParent else {
                return try await onThread { try WallTrialProcess(executable, attempt).ending }
            }
            let orphan = try await onThread {
                let trial = try WallTrialProcess(executable, attempt)
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
                try PermanentThread.start(name: "walls") {
                    continuation.resume(with: Swift.Result { try body() })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
