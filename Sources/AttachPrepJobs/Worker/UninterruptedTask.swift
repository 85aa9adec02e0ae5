/// Does what has to be done even when the task is cancelled: stores look at cancellation, and a cancelled job is to be
/// ended in the store all the same.
func uninterrupted<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
    try await Task { try await body() }.value
}
