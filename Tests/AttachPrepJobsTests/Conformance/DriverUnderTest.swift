import AttachPrep
import AttachPrepJobs
import Foundation
import RichPush
import Synchronization

/// A driver as its conformance suites need it: empty, with its clock in the test's hand.
struct DriverUnderTest: Sendable {
    /// What every driver under test is opened with.
    static let queuedJobsMax = 40

    var jobs: any JobQueue & JobCatalog & WebhookOutbox
    var clock: TestClock
    var feed: JobFeed
    /// The same queue in the next process of this machine, after this one has left that mark.
    var restart: @Sendable (LeftMark) async throws -> DriverUnderTest

    func restarted(_ mark: LeftMark) async throws -> DriverUnderTest { try await restart(mark) }

    // MARK: What suites do again and again

    func enqueue(_ submissions: JobSubmission...) async throws -> [JobID] {
        try await jobs.enqueue(submissions, idempotency: nil).jobs.map(\.id)
    }

    func claim(_ count: Int = 1, lease: Double = 15, hostLimit: Int = 16) async throws -> [ClaimedJob] {
        try await jobs.claim(count, by: "worker", lease: .seconds(lease), hostLimit: hostLimit)
    }

    func claimOne() async throws -> ClaimedJob {
        guard let claimed = try await claim().first else { throw Missing("no job was given") }
        return claimed
    }

    func job(_ id: JobID) async throws -> Job {
        guard let job = try await jobs.job(id) else { throw Missing("no job \(id)") }
        return job
    }

    /// A job that was given and has ended so.
    func ended(_ ending: JobCompletion, _ submission: JobSubmission = .sample()) async throws -> JobID {
        let id = try await enqueue(submission)[0]
        let claimed = try await claimOne()
        _ = try await jobs.finish(claimed.lease, ending, notice: nil)
        return id
    }
}

struct Missing: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// One thing that every driver does.
struct Behaviour: Sendable, CustomStringConvertible {
    let description: String
    let check: @Sendable (DriverUnderTest) async throws -> Void

    init(_ description: String, _ check: @escaping @Sendable (DriverUnderTest) async throws -> Void) {
        self.description = description
        self.check = check
    }
}

extension JobSubmission {
    private static let number = Mutex(0)

    /// A request of its own unless told otherwise.
    static func sample(
        _ source: String? = nil, host: String? = "cdn.example", key: String? = nil, priority: JobPriority = .normal,
        notBefore: Date? = nil, headers: [String: String] = [:], id: String? = nil
    ) -> JobSubmission {
        let number = number.withLock { number in
            number += 1
            return number
        }
        let source = source ?? "https://\(host ?? "cdn.example")/\(number).jpg"
        var request = AttachmentRequest(source: source)
        request.id = id
        request.headers = headers
        request.jobOptions.priority = priority
        request.jobOptions.notBefore = notBefore
        return JobSubmission(request: request, key: WorkKey(key ?? "key \(number)"), host: host)
    }
}

extension Manifest {
    static func sample(_ outcome: Outcome = .passed, error: ErrorCode? = nil) -> Manifest {
        var manifest = Manifest(
            id: "sample", requestDigest: "digest", outcome: outcome, source: ManifestSource(url: "https://cdn.example/")
        )
        manifest.error = error.map { ManifestError(AttachPrepError($0, "It did not work.")) }
        return manifest
    }

    static func rejected(_ code: ErrorCode) -> Manifest { .sample(.rejected, error: code) }
}

extension ManifestError {
    static func sample(_ code: ErrorCode = .downloadTimeout) -> ManifestError {
        ManifestError(AttachPrepError(code, "It took too long."))
    }
}
