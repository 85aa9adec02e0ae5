import Glibc
import Linux
public import MediaEngine

/// What became of one attempt to get through one wall.
public struct WallFinding: Codable, Sendable, Hashable {
    /// The wall.
    public let wall: Wall
    /// What was tried.
    public let attempt: WallAttempt
    /// Whether the wall stopped it.
    public let holds: Bool
    /// How it was stopped, or why it was not: a sentence without its full stop.
    public let how: String

    /// Reads it from the way the process ended that made the attempt: pure.
    init(_ attempt: WallAttempt, ending: ChildProcess.Ending) {
        self.attempt = attempt
        wall = attempt.wall
        (holds, how) = Self.reading(attempt, ending)
    }

    private static func reading(_ attempt: WallAttempt, _ ending: ChildProcess.Ending) -> (Bool, String) {
        switch (attempt, ending) {
        case (_, .exited(MediaChildExit.attemptRefused)): (true, "refused")
        case (_, .exited(MediaChildExit.wallMissing)): (false, missing(attempt.wall))
        // What it has become, or forked, ends with 0.
        case (_, .exited(MediaChildExit.attemptSucceeded)), (_, .exited(0)): (false, "it got through")
        case (_, .killed(SIGSYS)) where attempt.wall == .systemCalls: (true, "the attempt ended the process")
        case (.spin, .killed(SIGXCPU)), (.spin, .killed(SIGKILL)): (true, "the attempt ended the process")
        case (.outliveParent, .killed(SIGKILL)): (true, "it ended with its parent")
        case (_, .exited), (_, .killed): (false, "the attempt could not be made: \(ending.sentence)")
        }
    }

    private static func missing(_ wall: Wall) -> String {
        switch wall {
        case .files: "this kernel has no Landlock; Linux 5.13 or newer, started with lsm=landlock among others, has it"
        case .systemCalls: "this kernel or container has no seccomp filters"
        default: "it cannot be raised here"
        }
    }
}
