import AttachPrepJobs
import Foundation
import RichPush

/// A receipt store as its conformance suite needs it: empty, with its clock in the test's hand.
struct ReceiptDriverUnderTest: Sendable {
    var store: any ReceiptStore
    var clock: TestClock
    let key = ReceiptKey.random()

    /// A payload that was written just now.
    func dispatch(_ campaign: String = "spring", recipients: Int = 10) async throws -> Dispatch {
        let dispatch = try Dispatch(
            campaign: try CampaignName(naming: campaign), sentAt: clock.now, recipients: recipients)
        try await store.keep(dispatch)
        return dispatch
    }

    func arrival(
        of dispatch: Dispatch, _ id: String = UUID().uuidString,
        _ outcome: PushReceiptReport.Outcome = .attached, attach: Double = 1, age: Double = 0
    ) throws -> VerifiedReceipt {
        let token = ReceiptToken(dispatch.id, key: key).text
        return try VerifiedReceipt(
            PushReceiptReport(token: token, id: id, outcome: outcome, attachSeconds: attach, ageSeconds: age), key: key)
    }

    func take(_ arrivals: VerifiedReceipt...) async throws -> [ReceiptStatus] { try await store.take(arrivals) }

    func campaign(_ name: String = "spring") async throws -> Campaign {
        guard let campaign = try await store.campaign(try CampaignName(naming: name)) else {
            throw Missing("no campaign \(name)")
        }
        return campaign
    }
}

/// One thing that every receipt store does.
struct ReceiptBehaviour: Sendable, CustomStringConvertible {
    let description: String
    let check: @Sendable (ReceiptDriverUnderTest) async throws -> Void

    init(_ description: String, _ check: @escaping @Sendable (ReceiptDriverUnderTest) async throws -> Void) {
        self.description = description
        self.check = check
    }
}
