import AttachPrep
import AttachPrepJobs

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the store says of all its jobs, asked at one moment.
struct StoreFigures: Sendable {
    var date: Date
    var counts: JobCounts
    var webhooks: [WebhookState: Int]
    /// Decimal bytes.
    var mediaBytes: Int
    var pace: JobPace

    init(of store: any JobStore) async throws {
        date = .now
        counts = try await store.counts()
        webhooks = try await store.webhookCounts()
        mediaBytes = try await store.mediaBytes()
        pace = try await store.pace(until: date)
    }
}

/// All that the head of the dashboard shows.
struct OverviewAnswer: Encodable {
    var startedAt: Date
    var figures: StoreFigures
    var surroundings: Surroundings
    var readiness: ReadinessReport

    private enum CodingKeys: String, CodingKey {
        case version, startedAt, takesUploads, errors, webhooks, mediaBytes, hour, children, queue, publish, ready
        case reasons
    }

    private enum PlaceKeys: String, CodingKey {
        case kind, name, target, healthy, reason
    }

    private enum ChildKeys: String, CodingKey {
        case slots, failed, recycled
    }

    func encode(to encoder: any Encoder) throws {
        let numbers = JobNumbers(figures.counts, at: figures.date)
        try numbers.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(ProductVersion.text, forKey: .version)
        try values.encode(Timestamp.text(startedAt), forKey: .startedAt)
        try values.encode(true, forKey: .takesUploads)
        try values.encode(numbers.errors, forKey: .errors)
        let webhooks = WebhookState.allCases.map { ($0.rawValue, figures.webhooks[$0] ?? 0) }
        try values.encode(Dictionary(uniqueKeysWithValues: webhooks), forKey: .webhooks)
        try values.encode(figures.mediaBytes, forKey: .mediaBytes)
        try values.encode(PaceAnswer(figures.pace), forKey: .hour)
        try values.encode(readiness.ready, forKey: .ready)
        try values.encode(readiness.reasons, forKey: .reasons)
        try encodePlaces(into: &values)
        try encodeChildren(into: &values)
    }

    private func encodePlaces(into values: inout KeyedEncodingContainer<CodingKeys>) throws {
        var queue = values.nestedContainer(keyedBy: PlaceKeys.self, forKey: .queue)
        try queue.encode(surroundings.queueKind, forKey: .kind)
        try queue.encode(surroundings.queueName, forKey: .name)
        try Self.encode(surroundings.queue(), into: &queue)
        var publish = values.nestedContainer(keyedBy: PlaceKeys.self, forKey: .publish)
        try publish.encode(surroundings.publishName, forKey: .target)
        try Self.encode(surroundings.publish(), into: &publish)
    }

    private static func encode(
        _ health: PlaceHealth, into values: inout KeyedEncodingContainer<PlaceKeys>
    ) throws {
        try values.encode(health.isHealthy, forKey: .healthy)
        try values.encode(health.reason, forKey: .reason)
    }

    private func encodeChildren(into values: inout KeyedEncodingContainer<CodingKeys>) throws {
        guard let known = surroundings.children() else { return try values.encodeNil(forKey: .children) }
        var children = values.nestedContainer(keyedBy: ChildKeys.self, forKey: .children)
        try children.encode(known.slots, forKey: .slots)
        try children.encode(known.replacements.failed, forKey: .failed)
        try children.encode(known.replacements.recycled, forKey: .recycled)
    }
}
