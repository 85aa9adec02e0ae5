import AttachPrep

/// What things are called on the servers, where operators see them.
struct QueueNames: Sendable, Hashable {
    /// Letters, digits, `-` and `_`.
    let prefix: String

    /// The stream of jobs that wait or run: a message for each, on a subject of its own below its lane's.
    var lanes: String { "\(prefix)_lanes" }
    var laneSubjects: String { "\(prefix).lanes.*.*" }
    func laneSubject(_ lane: JobPriority, _ job: String) -> String { "\(prefix).lanes.\(lane.rawValue).\(job)" }
    func laneFilter(_ lane: JobPriority) -> String { "\(prefix).lanes.\(lane.rawValue).*" }

    /// The stream of dead letters: the job as everybody may see it.
    var deadLetters: String { "\(prefix)_dead" }
    var deadLetterSubjects: String { "\(prefix).dead.*" }
    func deadLetterSubject(_ job: String) -> String { "\(prefix).dead.\(job)" }

    /// The bucket of jobs.
    var jobs: String { "\(prefix)_jobs" }
    /// The bucket of jobs' log lines.
    var logs: String { "\(prefix)_logs" }
    /// The bucket of results, by what was asked for.
    var results: String { "\(prefix)_results" }
    /// The bucket of files that callers sent.
    var uploads: String { "\(prefix)_uploads" }
}
