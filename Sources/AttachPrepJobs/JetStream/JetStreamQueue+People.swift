import AttachPrep
import NATS
import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension JetStreamQueue: JobQueue {
    /// As the servers have it, so never older than what anybody was told before.
    public func job(_ id: JobID) async throws -> Job? {
        try await named { try await fetch(id.text)?.value.job() }
    }

    public func cancel(_ id: JobID) async throws -> Job {
        let now = clock.now().wall
        return try await named {
            guard let job = try await change(id.text, from: nil, { $0.calledOff(at: now) }) else {
                throw try await refusal(id, "is not called off")
            }
            return try job.value.job()
        }
    }

    public func retry(_ id: JobID) async throws -> Job {
        let now = clock.now().wall
        return try await named {
            try checkRoom(for: 1)
            let job = try await change(id.text, from: nil) { job in
                if job.state == .cancelled, job.secret == JobSecrets.wiped { throw JobSecrets.wipedError(id) }
                return job.retried(at: now)
            }
            guard let job else { throw try await refusal(id, "cannot be tried again") }
            try await publish([job.value])
            return try job.value.job()
        }
    }

    public func nextDue() async throws -> Date? {
        try await mirror.nextDue(after: clock.now().wall)
    }

    private func refusal(_ id: JobID, _ what: String) async throws -> AttachPrepError {
        guard let job = try await fetch(id.text) else {
            return AttachPrepError(
                .requestNotFound, "There is no job \(id); it never was, or its time of keeping is over.")
        }
        return AttachPrepError(.requestConflict, "The job \(id) is \(job.value.state.rawValue); it \(what).")
    }
}
