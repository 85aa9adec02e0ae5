import AttachPrepJobs
import RichPush

/// How a word looks on a terminal with colours, by what it means: pure.
enum TerminalStyle: Sendable, Hashable {
    case plain
    /// What is ready or holds.
    case good
    /// What was refused, failed or is missing.
    case bad
    /// What a person may want to look at.
    case warning
    /// What is under way.
    case active
    /// Times, labels and whatever is read last.
    case dim
    /// What stands above a column.
    case heading

    /// The parameters of "select graphic rendition", ECMA-48 8.3.117; nil changes nothing.
    ///
    /// Only the eight colours that a terminal's owner has chosen, so that they can be read on any background.
    private var rendition: String? {
        switch self {
        case .plain: nil
        case .good: "32"
        case .bad: "31"
        case .warning: "33"
        case .active: "36"
        case .dim: "2"
        case .heading: "1"
        }
    }

    /// The text in its look, and the usual look behind it.
    func paint(_ text: String) -> String {
        guard let rendition, !text.isEmpty else { return text }
        return "\u{1B}[\(rendition)m\(text)\u{1B}[0m"
    }
}

extension TerminalStyle {
    init(_ outcome: Outcome) {
        self =
            switch outcome {
            case .passed, .converted, .shrunk: .good
            case .bestAttempt: .warning
            case .rejected: .bad
            }
    }

    init(_ state: JobState) {
        self =
            switch state {
            case .queued: .plain
            case .running: .active
            case .succeeded: .good
            case .failed, .dead: .bad
            case .cancelled: .dim
            }
    }

    init(_ state: WebhookState) {
        self =
            switch state {
            case .pending: .active
            case .delivered: .good
            case .givenUp: .bad
            }
    }
}
