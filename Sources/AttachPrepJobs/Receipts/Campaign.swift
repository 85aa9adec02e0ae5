import AttachPrep
public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What is known of the notifications of a campaign.
///
/// Its JSON has always all of these keys, and `arrivals` and `arrivalRate`.
public struct Campaign: Sendable, Hashable {
    public var name: CampaignName
    /// Payloads that were written.
    public var dispatches: Int
    /// Devices they were for.
    public var recipients: Int
    /// Notifications that arrived, by what was shown.
    public var outcomes: [PushReceiptReport.Outcome: Int]
    /// From sending until a notification was shown with an attachment or its thumbnail; nil when none was.
    public var sendToAttach: SecondsDistribution?
    /// The part of that which passed in the device's extension.
    public var attach: SecondsDistribution?
    public var firstSentAt: Date
    public var lastSentAt: Date
    public var firstArrivalAt: Date?
    public var lastArrivalAt: Date?

    public init(
        name: CampaignName, dispatches: Int, recipients: Int, outcomes: [PushReceiptReport.Outcome: Int],
        firstSentAt: Date, lastSentAt: Date
    ) {
        self.name = name
        self.dispatches = dispatches
        self.recipients = recipients
        self.outcomes = outcomes
        self.firstSentAt = firstSentAt
        self.lastSentAt = lastSentAt
    }

    public var arrivals: Int { outcomes.values.reduce(0, +) }

    /// Arrivals for each recipient, 0 to 1.
    public var arrivalRate: Double { recipients > 0 ? Double(arrivals) / Double(recipients) : 0 }
}

extension Campaign: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, dispatches, recipients, arrivals, arrivalRate, outcomes, sendToAttachSeconds, attachSeconds
        case firstSentAt, lastSentAt, firstArrivalAt, lastArrivalAt
    }

    /// As a service's answer is read.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let counts = try values.decode([String: Int].self, forKey: .outcomes).compactMap { word, count in
            PushReceiptReport.Outcome(rawValue: word).map { ($0, count) }
        }
        self.init(
            name: try CampaignName(naming: try values.decode(String.self, forKey: .name)),
            dispatches: try values.decode(Int.self, forKey: .dispatches),
            recipients: try values.decode(Int.self, forKey: .recipients),
            outcomes: Dictionary(counts) { $1 },
            firstSentAt: try Self.time(.firstSentAt, in: values) ?? .distantPast,
            lastSentAt: try Self.time(.lastSentAt, in: values) ?? .distantPast)
        sendToAttach = try values.decodeIfPresent(SecondsDistribution.self, forKey: .sendToAttachSeconds)
        attach = try values.decodeIfPresent(SecondsDistribution.self, forKey: .attachSeconds)
        firstArrivalAt = try Self.time(.firstArrivalAt, in: values)
        lastArrivalAt = try Self.time(.lastArrivalAt, in: values)
    }

    private static func time(_ key: CodingKeys, in values: KeyedDecodingContainer<CodingKeys>) throws -> Date? {
        try values.decodeIfPresent(String.self, forKey: key).flatMap(Timestamp.date)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name.text, forKey: .name)
        try values.encode(dispatches, forKey: .dispatches)
        try values.encode(recipients, forKey: .recipients)
        try values.encode(arrivals, forKey: .arrivals)
        try values.encode(arrivalRate, forKey: .arrivalRate)
        let counts = PushReceiptReport.Outcome.allCases.map { ($0.rawValue, outcomes[$0] ?? 0) }
        try values.encode(Dictionary(uniqueKeysWithValues: counts), forKey: .outcomes)
        try values.encode(sendToAttach, forKey: .sendToAttachSeconds)
        try values.encode(attach, forKey: .attachSeconds)
        try values.encode(Timestamp.text(firstSentAt), forKey: .firstSentAt)
        try values.encode(Timestamp.text(lastSentAt), forKey: .lastSentAt)
        try values.encode(firstArrivalAt.map(Timestamp.text), forKey: .firstArrivalAt)
        try values.encode(lastArrivalAt.map(Timestamp.text), forKey: .lastArrivalAt)
    }
}
