import RichPush

/// Prepares each request once, however often a payload asks for it.
actor SharedPreparation {
    private let prepare: @Sendable (AttachmentRequest) async throws -> Manifest
    /// Also those under way: who asks meanwhile waits for the same result.
    private var preparations: [AttachmentRequest: Task<Manifest, any Error>] = [:]

    init(_ prepare: @escaping @Sendable (AttachmentRequest) async throws -> Manifest) {
        self.prepare = prepare
    }

    func manifest(of request: AttachmentRequest) async throws -> Manifest {
        let known = preparations[request]
        let task = known ?? Task { [prepare] in try await prepare(request) }
        preparations[request] = task
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
