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
    /// The servers without who we are; `local` for a file of this service, whose path is nobody else's matter.
    var queueName = "local"
    var queue: @Sendable () -> PlaceHealth = { .good }
    /// The bucket as `--publish` names it; `file` for files that are served here.
    var publishName = "file"
    var publish: @Sendable () -> PlaceHealth = { .good }
    /// Nil where jobs are taken in alone.
    var children: @Sendable () -> Children? = { nil }
}
