import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension WebhookNotice {
    /// What a job's caller is told of its end; nil when nobody asked to be told, or it was called off.
    ///
    /// - Parameters:
    ///   - job: with its secrets: the address is its `callbackURL`.
    ///   - baseURL: where media are served.
    public init?(for job: ClaimedJob, _ ending: JobEnding, at baseURL: String?, date: Date = .now) {
        guard let url = job.request.terms.callbackURL, let (event, manifest) = Self.news(of: ending, at: baseURL),
            let body = try? Self.body(event, manifest, date)
        else { return nil }
        self.init(url: url, event: event, body: body)
    }

    private static func news(of ending: JobEnding, at baseURL: String?) -> (Event, Manifest)? {
        switch ending {
        case .succeeded(let manifest, let media): (.attachmentPrepared, manifest.located(media, at: baseURL))
        case .failed(let manifest): (.attachmentRejected, manifest)
        case .dead(let manifest): (.jobDead, manifest)
        case .cancelled: nil
        }
    }

    /// The body of Standard Webhooks.
    private struct Body: Encodable {
        let type: Event
        let timestamp: String
        let data: Manifest
    }

    private static func body(_ event: Event, _ manifest: Manifest, _ date: Date) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = Body(type: event, timestamp: Timestamp.text(date), data: manifest)
        return String(decoding: try encoder.encode(body), as: UTF8.self)
    }
}
