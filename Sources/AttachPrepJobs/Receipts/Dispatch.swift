import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A payload that was written, on its way to one device or to many.
public struct Dispatch: Sendable, Hashable {
    public let id: DispatchID
    public let campaign: CampaignName
    public let sentAt: Date
    /// To how many devices it goes: no more arrivals of it are counted.
    public let recipients: Int

    /// - Throws: `request.invalid` for a number of recipients that cannot be.
    public init(id: DispatchID = .make(), campaign: CampaignName, sentAt: Date, recipients: Int) throws {
        guard (1...Limits.dispatchRecipientsMax).contains(recipients) else {
            throw AttachPrepError(
                .requestInvalid, "A payload goes to 1 to \(Limits.dispatchRecipientsMax) recipients.")
        }
        self.id = id
        self.campaign = campaign
        self.sentAt = sentAt
        self.recipients = recipients
    }
}
