/// The submission that a job came in: what its caller knows it by.
public struct JobOrigin: Codable, Sendable, Hashable {
    /// The name of the batch; nil for a request that came alone.
    public var batch: String?
    /// The submission's `Idempotency-Key`.
    public var idempotencyKey: String?

    public init(batch: String? = nil, idempotencyKey: String? = nil) {
        self.batch = batch
        self.idempotencyKey = idempotencyKey
    }

    /// As queues keep it: JSON; nil when there is nothing to keep.
    func stored() throws -> String? {
        self == JobOrigin() ? nil : try StoredJSON.text(self)
    }

    /// - Throws: `queue.unavailable` for what none of our versions wrote.
    init(stored text: String?) throws {
        self = try text.map { try StoredJSON.value($0, "a job's origin") } ?? JobOrigin()
    }
}
