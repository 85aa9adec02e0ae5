public import AttachPrepModel
import MediaTypes

/// Prepares equal requests once: those of one payload, of an array, or of many lines.
public actor SharedPreparations {
    /// Finished preparations and those in progress; an equal request waits for the same result.
    private var preparations: [AttachmentRequest: Task<Manifest, any Error>] = [:]

    public init() {}

    /// The manifest of a request; `prepare` is called for the first of equal requests.
    public func manifest(
        of request: AttachmentRequest, _ prepare: @escaping @Sendable (AttachmentRequest) async throws -> Manifest
    ) async throws -> Manifest {
        // Each payload has a secret of its own.
        if request.seal { return try await prepare(request) }
        let known = preparations[request]
        // Tasks in progress are still referenced by those who wait for them.
        if known == nil, preparations.count >= Limits.sharedPreparationsMax { preparations.removeAll() }
        let task = known ?? Task { try await prepare(request) }
        preparations[request] = task
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

extension Limits {
    /// Results that are remembered for equal requests: some 3 KB each.
    static let sharedPreparationsMax = 10_000
}
