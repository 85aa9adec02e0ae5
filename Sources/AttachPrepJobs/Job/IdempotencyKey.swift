/// A caller's word for a submission: the same word and body within a day give the same jobs.
public struct IdempotencyKey: Sendable, Hashable {
    /// Whose word it is: two callers may use the same one.
    public var caller: String
    public var key: String
    /// SHA-256 of the body, lower-case hexadecimal.
    public var bodyDigest: String

    public init(caller: String, key: String, bodyDigest: String) {
        self.caller = caller
        self.key = key
        self.bodyDigest = bodyDigest
    }
}
