public import AttachPrepModel
public import FoundationEssentials
public import RichPush

/// Stores dispatches and counts the receipts that devices send for them.
public protocol ReceiptStore: Sendable {
    /// Stores a dispatch before its payload is returned to the caller.
    ///
    /// - Throws: `request.conflict` when there are too many campaigns, `queue.unavailable`.
    func store(_ dispatch: Dispatch) async throws

    /// Counts arrivals, each at most once: only the first with the same dispatch and report id. All of them or none.
    ///
    /// - Returns: The status of each, in the same order.
    /// - Throws: `queue.unavailable`.
    func record(_ arrivals: [VerifiedReceipt]) async throws -> [ReceiptStatus]

    /// Returns a campaign; nil when there is none with this name.
    func campaign(_ name: CampaignName) async throws -> Campaign?

    /// Returns campaigns, the newest first.
    func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage
}

/// A device's report with a valid token and values in range.
public struct VerifiedReceipt: Sendable, Hashable {
    public let dispatch: DispatchID
    /// The report's id, which the device chose.
    public let report: String
    public let outcome: PushReceiptReport.Outcome
    public let attachSeconds: Double
    public let ageSeconds: Double

    /// - Throws: `request.unauthorized` for an invalid token; `request.invalid`, which names the member.
    public init(_ report: PushReceiptReport, key: ReceiptKey) throws(AttachPrepError) {
        dispatch = try ReceiptToken.dispatch(of: report.token, key: key)
        guard (1...Limits.receiptNameCharactersMax).contains(report.id.utf8.count),
            report.id.utf8.allSatisfy({ (33...126).contains($0) })
        else {
            throw AttachPrepError(
                .requestInvalid,
                "A receipt's \"id\" must have 1 to \(Limits.receiptNameCharactersMax) visible ASCII characters.")
        }
        try Self.check(report.attachSeconds, name: "attachSeconds", max: Limits.receiptAttachSecondsMax)
        try Self.check(report.ageSeconds, name: "ageSeconds", max: Limits.receiptAgeSecondsMax)
        self.report = report.id
        outcome = report.outcome
        attachSeconds = report.attachSeconds
        ageSeconds = report.ageSeconds
    }

    private static func check(_ seconds: Double, name: String, max secondsMax: Double) throws(AttachPrepError) {
        guard seconds.isFinite, (0...secondsMax).contains(seconds) else {
            throw AttachPrepError(
                .requestInvalid, "A receipt's \"\(name)\" must be from 0 to \(Int(secondsMax)) seconds.")
        }
    }
}

/// How an arrival was counted.
public enum ReceiptStatus: Sendable, Hashable {
    /// Counted. With an attachment or thumbnail: seconds from sending until it was shown, by the server's clock.
    case counted(sendToAttachSeconds: Double?)
    /// Already counted.
    case repeated
    /// Not counted, because as many arrivals as the payload has recipients were counted already.
    case surplus(isFirst: Bool)
    /// Not counted, because the dispatch is unknown or has expired.
    case expired
}

/// A payload that was written for one device or for many.
public struct Dispatch: Sendable, Hashable {
    public let id: DispatchID
    public let campaign: CampaignName
    public let sentAt: Date
    /// Number of devices that it is sent to; at most this many arrivals are counted.
    public let recipients: Int

    /// - Throws: `request.invalid` for an invalid number of recipients.
    public init(id: DispatchID = .make(), campaign: CampaignName, sentAt: Date, recipients: Int) throws {
        guard (1...Limits.dispatchRecipientsMax).contains(recipients) else {
            throw AttachPrepError(
                .requestInvalid, "A payload must have 1 to \(Limits.dispatchRecipientsMax) recipients.")
        }
        self.id = id
        self.campaign = campaign
        self.sentAt = sentAt
        self.recipients = recipients
    }
}

/// Identifier of a dispatch: 64 random bits.
public struct DispatchID: Sendable, Hashable {
    let bits: UInt64

    public static func make() -> DispatchID {
        var generator = SystemRandomNumberGenerator()
        return DispatchID(bits: generator.next())
    }

    /// The database representation.
    package var number: Int64 { Int64(bitPattern: bits) }

    /// The eight bytes, most significant first.
    var bytes: [UInt8] { stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) } }

    init(bits: UInt64) {
        self.bits = bits
    }

    /// Reads eight bytes, most significant first.
    init(bytes: some Sequence<UInt8>) {
        bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension Limits {
    /// Recipients of one payload: about the number of iPhones.
    package static let dispatchRecipientsMax = 1_000_000_000
    /// Characters of a device's id for an arrival; a UUID has 36.
    package static let receiptNameCharactersMax = 64
    /// The longest accepted attach time: an extension has 30 s, but a phone may sleep meanwhile.
    package static let receiptAttachSecondsMax = 3_600.0
    /// The oldest accepted receipt: a phone may be off for a year. Reports of expired dispatches are accepted, so that
    /// the phone deletes them, but not counted.
    package static let receiptAgeSecondsMax = 400.0 * 24 * 3600
}
