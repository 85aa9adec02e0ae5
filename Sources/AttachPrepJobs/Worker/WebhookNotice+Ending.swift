import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension WebhookNotice {
    /// What a job's caller is told of its end; nil when nobody asked to be told.
    ///
    /// - Parameters:
    ///   - job: with its secrets: the address is its `callbackURL`.
    ///   - baseURL: where media are served.
    public init?(for job: ClaimedJob, _ ending: JobEnding, at baseURL: String?, date: Date = .now) {
        guard let url = job.request.terms.callbackURL,
            let body = try? Self.body(
                Self.event(of: ending), Self.manifest(of: job, ending, at: baseURL), date,
                Subject(job: job.job, state: ending.state))
        else { return nil }
        self.init(url: url, event: Self.event(of: ending), body: body)
    }

    private static func event(of ending: JobEnding) -> Event {
        switch ending {
        case .succeeded: .attachmentPrepared
        case .failed: .attachmentRejected
        case .dead: .jobDead
        case .cancelled: .jobCancelled
        }
    }

    private static func manifest(of job: ClaimedJob, _ ending: JobEnding, at baseURL: String?) -> Manifest {
        switch ending {
        case .succeeded(let manifest, let media): manifest.located(media, at: baseURL)
        case .failed(let manifest), .dead(let manifest): manifest
        case .cancelled:
            JobManifest.refusing(job, AttachPrepError(.cancelled, "The job was cancelled."), waited: 0)
        }
    }

    /// The body of Standard Webhooks.
    private struct Body: Encodable {
        let type: Event
        let timestamp: String
        let data: Manifest
        let job: Subject
    }

    /// The job, for a receiver that knows its id from the submission's answer; every member is always there.
    private struct Subject: Encodable {
        let job: Job
        let state: JobState

        private enum CodingKeys: String, CodingKey {
            case id, state, attempts, batch, idempotencyKey, createdAt
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(job.id, forKey: .id)
            try values.encode(state, forKey: .state)
            try values.encode(job.attempts, forKey: .attempts)
            try values.encode(job.origin.batch, forKey: .batch)
            try values.encode(job.origin.idempotencyKey, forKey: .idempotencyKey)
            try values.encode(Timestamp.text(job.createdAt), forKey: .createdAt)
        }
    }

    private static func body(
        _ event: Event, _ manifest: Manifest, _ date: Date, _ subject: Subject
    ) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = Body(type: event, timestamp: Timestamp.text(date), data: manifest, job: subject)
        return String(decoding: try encoder.encode(body), as: UTF8.self)
    }
}
