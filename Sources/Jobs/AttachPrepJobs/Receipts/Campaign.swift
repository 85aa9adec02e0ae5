import AttachPrep
import AttachPrepModel
public import FoundationEssentials
public import RichPush
import SafeArithmetic

/// Delivery statistics of a campaign.
///
/// Its JSON always has all keys of `CodingKeys` but `jobs`, including the computed `arrivals` and `arrivalRate`.
public struct Campaign: Sendable, Hashable {
    public var name: CampaignName
    /// Number of payloads that were written.
    public var dispatches: Int
    /// Number of devices that they were for.
    public var recipients: Int
    /// Number of notifications that arrived, by what was shown.
    public var outcomes: [PushReceiptReport.Outcome: Int]
    /// Time from sending until a notification was shown with an attachment or thumbnail; nil when none was.
    public var sendToAttach: SecondsDistribution?
    /// The part of that time spent in the app extension on the device.
    public var attach: SecondsDistribution?
    /// Nil while no payload was written.
    public var firstSentAt: Date?
    public var lastSentAt: Date?
    public var firstArrivalAt: Date?
    public var lastArrivalAt: Date?
    /// The jobs with its tag; nil in lists of campaigns.
    public var jobs: JobProgress?

    public init(
        name: CampaignName, dispatches: Int, recipients: Int, outcomes: [PushReceiptReport.Outcome: Int],
        firstSentAt: Date?, lastSentAt: Date?
    ) {
        self.name = name
        self.dispatches = dispatches
        self.recipients = recipients
        self.outcomes = outcomes
        self.firstSentAt = firstSentAt
        self.lastSentAt = lastSentAt
    }

    /// A campaign of which nothing was sent.
    package init(name: CampaignName) {
        self.init(name: name, dispatches: 0, recipients: 0, outcomes: [:], firstSentAt: nil, lastSentAt: nil)
    }

    /// Adds the progress of the jobs with the campaign's tag.
    ///
    /// - Parameter known: the campaign of payloads that were written; nil when there is none.
    /// - Throws: `request.not_found` when there are no such jobs either.
    package init(_ known: Campaign?, named name: CampaignName, in catalog: any JobCatalog) async throws {
        var filter = JobFilter()
        filter.tags = [name.jobTag]
        let jobs = JobProgress(try await catalog.countsByState(filter))
        guard known != nil || jobs.jobs > 0 else {
            throw AttachPrepError(
                .requestNotFound,
                "No campaign named \(name): no payload was written for it, and no job has the tag \(name.jobTag).")
        }
        self = known ?? Campaign(name: name)
        self.jobs = jobs
    }

    public var arrivals: Int { outcomes.values.reduce(0, +) }

    /// Arrivals divided by recipients, 0 to 1.
    public var arrivalRate: Double { recipients > 0 ? Double(arrivals) / Double(recipients) : 0 }
}

extension Campaign: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, dispatches, recipients, arrivals, arrivalRate, outcomes, sendToAttachSeconds, attachSeconds
        case firstSentAt, lastSentAt, firstArrivalAt, lastArrivalAt, jobs
    }

    /// Decodes a response of the service.
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
            firstSentAt: try values.time(forKey: .firstSentAt), lastSentAt: try values.time(forKey: .lastSentAt))
        sendToAttach = try values.decodeIfPresent(SecondsDistribution.self, forKey: .sendToAttachSeconds)
        attach = try values.decodeIfPresent(SecondsDistribution.self, forKey: .attachSeconds)
        firstArrivalAt = try values.time(forKey: .firstArrivalAt)
        lastArrivalAt = try values.time(forKey: .lastArrivalAt)
        jobs = try values.decodeIfPresent(JobProgress.self, forKey: .jobs)
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
        try values.encode(firstSentAt.map(Timestamp.text), forKey: .firstSentAt)
        try values.encode(lastSentAt.map(Timestamp.text), forKey: .lastSentAt)
        try values.encode(firstArrivalAt.map(Timestamp.text), forKey: .firstArrivalAt)
        try values.encode(lastArrivalAt.map(Timestamp.text), forKey: .lastArrivalAt)
        try values.encodeIfPresent(jobs, forKey: .jobs)
    }
}

/// Name of a campaign: 1 to 64 letters, digits, dots, dashes and underscores, beginning with a letter or a digit.
public struct CampaignName: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// The campaign of payloads that name none: `default`.
    public static let standard = CampaignName(known: "default")

    /// Nil for an invalid name.
    public init?(_ text: String) {
        let isPlain = { (byte: UInt8) in Self.alphanumeric.contains(byte) }
        guard let first = text.utf8.first, isPlain(first), text.utf8.count <= Limits.campaignNameCharactersMax,
            text.utf8.allSatisfy({ isPlain($0) || "._-".utf8.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Validates a caller's name; nil is the standard campaign.
    ///
    /// - Throws: `request.invalid`.
    public init(naming text: String?) throws {
        guard let text else {
            self = .standard
            return
        }
        guard let name = CampaignName(text) else {
            throw AttachPrepError(
                .requestInvalid,
                "A campaign name must have 1 to \(Limits.campaignNameCharactersMax) letters, digits, dots, dashes and "
                    + "underscores, and begin with a letter or a digit.")
        }
        self = name
    }

    private init(known text: String) {
        self.text = text
    }

    private static let alphanumeric = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// The tag of the jobs that belong to the campaign: `campaign=spring`.
    public var jobTag: String { "campaign=\(text)" }

    public var description: String { text }
}

/// One page of a list of campaigns.
public struct CampaignPage: Sendable, Hashable {
    public var campaigns: [Campaign]
    /// Cursor of the next page; nil on the last page.
    public var next: CampaignCursor?

    public init(campaigns: [Campaign], next: CampaignCursor?) {
        self.campaigns = campaigns
        self.next = next
    }
}

/// A position in the list of campaigns.
public struct CampaignCursor: Sendable, Hashable {
    package let number: Int64

    /// Nil for text that is not a cursor.
    public init?(_ text: String) {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy("0123456789".utf8.contains),
            let number = Int64(text)
        else { return nil }
        self.number = number
    }

    package init(number: Int64) {
        self.number = number
    }

    public var text: String { "\(number)" }
}

extension CampaignPage: Codable {
    private enum CodingKeys: String, CodingKey {
        case campaigns, next
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        campaigns = try values.decode([Campaign].self, forKey: .campaigns)
        next = try values.decodeIfPresent(String.self, forKey: .next).flatMap { CampaignCursor($0) }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(campaigns, forKey: .campaigns)
        try values.encode(next?.text, forKey: .next)
    }
}

/// Count, percentiles and maximum of durations in seconds.
///
/// Percentiles are the middle of a bucket, within 1 % or 0.5 ms of the measured value; `max` is exact.
public struct SecondsDistribution: Codable, Sendable, Hashable {
    public var count: Int
    public var p50: Double
    public var p90: Double
    public var p95: Double
    public var p99: Double
    public var max: Double

    /// Nil when all counts are 0.
    ///
    /// - Parameters:
    ///   - buckets: in ascending order, each with its number of durations.
    ///   - longest: the longest duration in milliseconds.
    package init?(_ buckets: [(bucket: MillisecondBucket, count: Int)], longest: Int64) {
        let total = buckets.reduce(0) { $0.adding(clamping: Swift.max(0, $1.count)) }
        guard total > 0 else { return nil }
        let percentile = { (share: Double) in
            // The nearest-rank method: the first value with at least `rank` values up to it.
            let rank = Swift.max(1, Int(clamping: (share * Double(total)).rounded(.up)))
            var seen = 0
            let found = buckets.first { row in
                seen = seen.adding(clamping: Swift.max(0, row.count))
                return seen >= rank
            }
            let milliseconds = found?.bucket.middle ?? Double(longest)
            return Swift.min(milliseconds, Double(longest)) / 1000
        }
        count = total
        p50 = percentile(0.5)
        p90 = percentile(0.9)
        p95 = percentile(0.95)
        p99 = percentile(0.99)
        max = Double(longest) / 1000
    }
}

/// A histogram bucket of durations: 1 ms wide below 128 ms, then a 64th of each doubling.
///
/// Few enough to be stored for each campaign (1,700 cover a month), and within 1 % of any duration.
package struct MillisecondBucket: Sendable, Hashable {
    package let index: Int

    private static let stepsBits = 6
    private static let steps = 1 << stepsBits

    /// The bucket of a stored index, clamped to valid indexes.
    package init(index: Int) {
        self.index = min(max(index, 0), Self.indexMax)
    }

    private static let indexMax = MillisecondBucket(Int64.max).index

    /// The bucket of a duration; a negative duration is in the first bucket.
    package init(_ milliseconds: Int64) {
        let value = Int(max(0, milliseconds))
        let shift = max(0, Int.bitWidth - value.leadingZeroBitCount - 1 - Self.stepsBits)
        index = shift * Self.steps + (value >> shift)
    }

    /// The middle of the bucket in milliseconds.
    package var middle: Double {
        let shift = max(0, index / Self.steps - 1)
        let first = (index - shift * Self.steps) << shift
        return Double(first) + Double((1 << shift) - 1) / 2
    }
}

extension Limits {
    /// Characters of a campaign's name.
    package static let campaignNameCharactersMax = 64
}
