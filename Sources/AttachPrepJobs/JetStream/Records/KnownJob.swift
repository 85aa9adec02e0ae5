/// A job as it was heard of last.
struct KnownJob: Sendable, Hashable {
    var value: KeptJob
    /// Of its key: who changes it names it.
    var revision: UInt64
    /// When it was heard of, in milliseconds of this machine's steady clock.
    var heardAt: Int64
}
