package import AttachPrepModel
import MediaTypes

extension AttachPrepError {
    /// The time budget of a request ran out during a stage.
    package static func deadlinePassed(at stage: String) -> AttachPrepError {
        AttachPrepError(
            .deadlineExceeded, "The time budget ran out during \(stage); raise the budget or send a smaller source.")
    }
}

/// Runs work until a deadline, then cancels it and throws `deadline.exceeded`.
///
/// The work must respond to cancellation: a download aborts its transfer, media work kills its process.
package func withDeadline<Result: Sendable>(
    _ deadline: ContinuousClock.Instant, stage: String, _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try? await Task.sleep(until: deadline, clock: .continuous)
            return nil
        }
        defer { group.cancelAll() }
        // The first to finish decides; the other is cancelled and awaited, so that no task outlives the call.
        guard let first = try await group.next(), let result = first else {
            throw Task.isCancelled ? AttachPrepError.cancelled : AttachPrepError.deadlinePassed(at: stage)
        }
        return result
    }
}

extension AttachPrepError {
    package static let cancelled = AttachPrepError(.cancelled, "The request was cancelled.")
}
