import AttachPrepJobs

/// Several jobs that were taken in at once.
struct JobsAnswer: Encodable {
    /// Names them together, in their webhooks as well; nil for those that a version before took in.
    var batch: String?
    var jobs: [Job]

    private enum CodingKeys: String, CodingKey {
        case batch, jobs
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(batch, forKey: .batch)
        try values.encode(jobs, forKey: .jobs)
    }
}

/// A page of jobs.
struct JobPageAnswer: Encodable {
    var jobs: [Job]
    var next: JobID?

    private enum CodingKeys: String, CodingKey {
        case jobs, next
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(jobs, forKey: .jobs)
        try values.encode(next, forKey: .next)
    }
}

/// How many jobs are to run again.
struct RetryAnswer: Encodable {
    var retried: Int
}

/// How many jobs were removed.
struct PurgeAnswer: Encodable {
    var purged: Int
}
