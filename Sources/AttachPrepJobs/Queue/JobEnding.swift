public import RichPush

/// How a job ends.
public enum JobEnding: Sendable {
    /// An attachment exists; its files are that media's.
    case succeeded(Manifest, MediaID)
    /// A permanent error: the manifest is a rejected one.
    case failed(Manifest)
    /// Retries used up.
    case dead(Manifest)
    case cancelled

    /// The state that it leads to.
    var state: JobState {
        switch self {
        case .succeeded: .succeeded
        case .failed: .failed
        case .dead: .dead
        case .cancelled: .cancelled
        }
    }
}
