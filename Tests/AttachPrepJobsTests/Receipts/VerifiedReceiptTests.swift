import Foundation
import RichPush
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

@Suite struct VerifiedReceiptTests {
    private let key = ReceiptKey.random()

    private func report(id: String = "a", attach: Double = 1, age: Double = 2) -> PushReceiptReport {
        PushReceiptReport(
            token: ReceiptToken(.make(), key: key).text, id: id, outcome: .attached, attachSeconds: attach,
            ageSeconds: age)
    }

    private func message(_ report: PushReceiptReport) -> String? {
        do {
            _ = try VerifiedReceipt(report, key: key)
            return nil
        } catch {
            #expect(error.code == .requestInvalid)
            return error.message
        }
    }

    @Test(arguments: [-0.001, -.infinity, .infinity, .nan, Limits.receiptAttachSecondsMax + 0.1, 1e300])
    func `Impossible durations are rejected`(_ seconds: Double) {
        #expect(message(report(attach: seconds))?.contains("attachSeconds") == true)
        guard seconds < 0 || !seconds.isFinite || seconds > Limits.receiptAgeSecondsMax else { return }
        #expect(message(report(age: seconds))?.contains("ageSeconds") == true)
    }

    @Test func `The longest durations are accepted`() {
        #expect(message(report(attach: Limits.receiptAttachSecondsMax, age: Limits.receiptAgeSecondsMax)) == nil)
        #expect(message(report(attach: 0, age: 0)) == nil)
    }

    @Test(arguments: ["", "a b", "é", "\u{7F}", "\n", String(repeating: "x", count: 65)])
    func `Ids other than 1 to 64 visible ASCII characters are rejected`(_ id: String) {
        #expect(message(report(id: id))?.contains("\"id\"") == true)
    }

    @Test(arguments: ["!", "~", String(repeating: "x", count: 64)])
    func `Ids of 1 to 64 visible ASCII characters are accepted`(_ id: String) {
        #expect(message(report(id: id)) == nil)
    }

    @Test(arguments: ["", ".a", "-a", "a b", "ä", "a/b", String(repeating: "a", count: 65)])
    func `Invalid campaign names are rejected`(_ text: String) {
        #expect(throws: AttachPrepError.self) { try CampaignName(naming: text) }
    }

    @Test(arguments: ["a", "7", "Spring.sale_2026-11", String(repeating: "a", count: 64)])
    func `Valid campaign names are kept unchanged`(_ text: String) throws {
        #expect(try CampaignName(naming: text).text == text)
    }

    @Test func `Without a name, the standard campaign is used`() throws {
        #expect(try CampaignName(naming: nil) == .standard && CampaignName("default") == .standard)
    }

    @Test(arguments: [0, -1, Limits.dispatchRecipientsMax + 1, .min, .max])
    func `A number of recipients out of range is rejected`(_ recipients: Int) {
        #expect(throws: AttachPrepError.self) {
            try Dispatch(campaign: .standard, sentAt: .now, recipients: recipients)
        }
    }
}
