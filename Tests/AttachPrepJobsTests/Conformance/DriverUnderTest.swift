import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import Synchronization

/// A queue driver under test: empty, with a clock that the test controls.
struct DriverUnderTest: Sendable {
    /// The limit that every driver under test is opened with.
    static let queuedJobsMax = 40

    var jobs: any JobQueue & JobCatalog & PauseStore & ActionLog & WebhookOutbox
    var clock: TestClock
    var feed: JobFeed
    /// Opens the same queue like the next process of this machine, after this one was killed.
    var restart: @Sendable () async throws -> DriverUnderTest

    func restarted() async throws -> DriverUnderTest { try await restart() }

    // MARK: Shared steps

    func enqueue(_ submissions: JobSubmission...) async throws -> [JobID] {
        try await jobs.enqueue(submissions, idempotency: nil).jobs.map(\.id)
    }

    func claim(_ count: Int = 1, lease: Double = 15, hostLimit: Int = 16) async throws -> [ClaimedJob] {
        try await jobs.claim(count, by: "worker", lease: .seconds(lease), hostLimit: hostLimit)
    }

    /// Claims until there is a job: a busy server delivers a message late.
    func claimOne() async throws -> ClaimedJob {
        guard let claimed = try await claimSoon().first else { throw MissingError("no job was claimed") }
        return claimed
    }

    func job(_ id: JobID) async throws -> Job {
        guard let job = try await jobs.job(id) else { throw MissingError("no job \(id)") }
        return job
    }

    /// Enqueues, claims and finishes a job.
    func ended(_ ending: JobCompletion, _ submission: JobSubmission = .sample()) async throws -> JobID {
        let id = try await enqueue(submission)[0]
        let claimed = try await claimOne()
        _ = try await jobs.finish(claimed.lease, ending, notice: nil)
        return id
    }
}

struct MissingError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A behavior that every driver has.
struct Behavior: Sendable, CustomStringConvertible {
    let description: String
    /// Whether it is about the clock of the machine, which a store with a server's clock does not use.
    let isOfLocalClock: Bool
    let check: @Sendable (DriverUnderTest) async throws -> Void

    init(
        _ description: String, isOfLocalClock: Bool = false,
        _ check: @escaping @Sendable (DriverUnderTest) async throws -> Void
    ) {
        self.description = description
        self.isOfLocalClock = isOfLocalClock
        self.check = check
    }
}

extension JobSubmission {
    private static let number = Mutex(0)

    /// A submission with a source and a work key of its own by default.
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

/// The wall clock and the steady clock of a driver, moved by the test.
final class TestClock: Sendable {
    private struct State {
        var date = Date(timeIntervalSince1970: 1_795_294_262)
        var steady: Int64 = 1_000_000
    }

    private let state = Mutex(State())

    var now: Date { state.withLock { $0.date } }

    /// The time of a server's clock, which a step of this machine's clock does not change: milliseconds since 1970.
    var serverMilliseconds: Int64 { state.withLock { $0.steady } + Self.start }

    private static let start = Int64(1_795_294_262_000 - 1_000_000)

    /// Moves both clocks forward.
    func advance(_ seconds: Double) {
        state.withLock { state in
            state.date += seconds
            state.steady += Int64((seconds * 1000).rounded())
        }
    }

    /// Sets the wall clock forward or back while no time passes.
    func jump(_ seconds: Double) {
        state.withLock { $0.date += seconds }
    }

    func storeClock(bootID: String = "first start") -> StoreClock {
        StoreClock(
            wall: { self.state.withLock { $0.date } }, steadyMilliseconds: { self.state.withLock { $0.steady } },
            bootID: bootID)
    }
}
