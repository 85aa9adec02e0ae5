import AttachPrep

/// What a service works with beside its jobs, as it is at the moment; asked for often, so it is known without waiting.
struct Surroundings: Sendable {
    /// Where jobs are kept.
    enum QueueKind: String, Encodable, Sendable {
        case sqlite
        case jetstream
    }

    /// Media children at a time, and how often one was replaced.
    struct Children: Sendable {
        var slots: Int
        var replacements: ChildReplacements
    }

    var queueKind = QueueKind.sqlite
    /// The folder, or the servers without who we are.
    var queueName = ""
    var queue: @Sendable () -> PlaceHealth = { .good }
    /// As `--publish` has it; `file` for files that are served here.
    var publishName = "file"
    var publish: @Sendable () -> PlaceHealth = { .good }
    /// Nil where jobs are taken in alone.
    var children: @Sendable () -> Children? = { nil }
}
