import AttachPrepJobs
import AttachPrepModel
import Foundation
import RichPush
import Testing

/// A receipt store under test: empty, with a clock that the test controls.
struct ReceiptDriverUnderTest: Sendable {
    var store: any ReceiptStore
    var clock: TestClock
    let key = ReceiptKey.random()

    /// Stores a dispatch that is sent now.
    func dispatch(_ campaign: String = "spring", recipients: Int = 10) async throws -> Dispatch {
        let dispatch = try Dispatch(
            campaign: try CampaignName(naming: campaign), sentAt: clock.now, recipients: recipients)
        try await store.store(dispatch)
        return dispatch
    }

    func receipt(
        of dispatch: Dispatch, _ id: String = UUID().uuidString,
        _ outcome: PushReceiptReport.Outcome = .attached, attach: Double = 1, age: Double = 0
    ) throws -> VerifiedReceipt {
        let token = ReceiptToken(dispatch.id, key: key).text
        return try VerifiedReceipt(
            PushReceiptReport(token: token, id: id, outcome: outcome, attachSeconds: attach, ageSeconds: age), key: key)
    }

    func record(_ receipts: VerifiedReceipt...) async throws -> [ReceiptStatus] { try await store.record(receipts) }

    func campaign(_ name: String = "spring") async throws -> Campaign {
        guard let campaign = try await store.campaign(try CampaignName(naming: name)) else {
            throw MissingError("no campaign \(name)")
        }
        return campaign
    }
}

/// A behavior that every receipt store has.
struct ReceiptBehavior: Sendable, CustomStringConvertible {
    let description: String
    let check: @Sendable (ReceiptDriverUnderTest) async throws -> Void

    init(_ description: String, _ check: @escaping @Sendable (ReceiptDriverUnderTest) async throws -> Void) {
        self.description = description
        self.check = check
    }
}

/// The behavior that every `ReceiptStore` has; each test gets a new store.
enum ReceiptStoreConformance {
    static let behaviors = counting + measuring + listing

    static let counting: [ReceiptBehavior] = [
        ReceiptBehavior("Recipients and receipts are counted by campaign") { driver in
            let first = try await driver.dispatch(recipients: 3)
            _ = try await driver.dispatch(recipients: 5)
            let other = try await driver.dispatch("autumn")
            _ = try await driver.record(
                try driver.receipt(of: first), try driver.receipt(of: first, "t", .thumbnail),
                try driver.receipt(of: other, "x", .text))
            let campaign = try await driver.campaign()
            #expect(campaign.dispatches == 2 && campaign.recipients == 8 && campaign.arrivals == 2)
            #expect(campaign.outcomes == [.attached: 1, .thumbnail: 1, .text: 0])
            #expect(campaign.arrivalRate == 0.25)
            #expect(try await driver.campaign("autumn").outcomes == [.attached: 0, .thumbnail: 0, .text: 1])
        },
        ReceiptBehavior("A repeated receipt is counted once, with its first outcome") { driver in
            let dispatch = try await driver.dispatch()
            let statuses = try await driver.record(
                try driver.receipt(of: dispatch, "one", .text), try driver.receipt(of: dispatch, "one", .attached))
            #expect(statuses == [.counted(sendToAttachSeconds: nil), .repeated])
            #expect(try await driver.record(try driver.receipt(of: dispatch, "one", .thumbnail)) == [.repeated])
            #expect(try await driver.campaign().outcomes == [.attached: 0, .thumbnail: 0, .text: 1])
        },
        ReceiptBehavior("Receipt ids are case-sensitive and separate for each dispatch") { driver in
            let (one, other) = (try await driver.dispatch(), try await driver.dispatch())
            _ = try await driver.record(
                try driver.receipt(of: one, "a"), try driver.receipt(of: other, "a"), try driver.receipt(of: one, "A"))
            #expect(try await driver.campaign().arrivals == 3)
        },
        ReceiptBehavior("Receipts over the number of recipients are not counted, the first one is marked") { driver in
            let dispatch = try await driver.dispatch(recipients: 2)
            let statuses = try await driver.store.record(try (0..<4).map { try driver.receipt(of: dispatch, "\($0)") })
            #expect(statuses.suffix(2) == [.surplus(isFirst: true), .surplus(isFirst: false)])
            #expect(try await driver.record(try driver.receipt(of: dispatch, "0")) == [.repeated])
            #expect(try await driver.record(try driver.receipt(of: dispatch, "9")) == [.surplus(isFirst: false)])
            let campaign = try await driver.campaign()
            #expect(campaign.arrivals == 2 && campaign.arrivalRate == 1)
        },
        ReceiptBehavior("A receipt of an unknown dispatch is not counted") { driver in
            let unknown = try Dispatch(campaign: .standard, sentAt: driver.clock.now, recipients: 1)
            #expect(try await driver.record(try driver.receipt(of: unknown)) == [.expired])
            #expect(try await driver.store.campaign(.standard) == nil)
        },
        ReceiptBehavior("A receipt is expired a month after its dispatch") { driver in
            let dispatch = try await driver.dispatch()
            driver.clock.advance(Limits.dispatchSeconds - 1)
            #expect(try await driver.record(try driver.receipt(of: dispatch, "late")) != [.expired])
            driver.clock.advance(1)
            #expect(try await driver.record(try driver.receipt(of: dispatch, "late2")) == [.expired])
        },
        ReceiptBehavior("Concurrent copies of one receipt are counted once") { driver in
            let dispatch = try await driver.dispatch()
            let receipt = try driver.receipt(of: dispatch, "one")
            let counted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await driver.store.record([receipt]) != [.repeated] }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(counted == 1)
            #expect(try await driver.campaign().arrivals == 1)
        },
        ReceiptBehavior("Concurrent receipts are all counted, up to the number of recipients") { driver in
            let dispatch = try await driver.dispatch(recipients: 150)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask { _ = try await driver.record(try driver.receipt(of: dispatch)) }
                }
                try await group.waitForAll()
            }
            #expect(try await driver.campaign().arrivals == 150)
        },
    ]

    static let measuring: [ReceiptBehavior] = [
        ReceiptBehavior("The time from send to attach is measured by the server, minus the report's age") { driver in
            let dispatch = try await driver.dispatch()
            let sentAt = driver.clock.now
            driver.clock.advance(100)
            let statuses = try await driver.record(try driver.receipt(of: dispatch, "a", attach: 0.5, age: 95.5))
            #expect(statuses == [.counted(sendToAttachSeconds: 4.5)])
            let campaign = try await driver.campaign()
            #expect(campaign.sendToAttach?.max == 4.5 && campaign.attach?.max == 0.5)
            #expect(campaign.firstArrivalAt == sentAt + 4.5 && campaign.lastArrivalAt == sentAt + 4.5)
        },
        ReceiptBehavior("A report that is older than its dispatch counts as shown when it was sent") { driver in
            let dispatch = try await driver.dispatch()
            let sentAt = driver.clock.now
            driver.clock.advance(5)
            let statuses = try await driver.record(try driver.receipt(of: dispatch, age: 3_600))
            #expect(statuses == [.counted(sendToAttachSeconds: 0)])
            #expect(try await driver.campaign().firstArrivalAt == sentAt)
        },
        ReceiptBehavior("A receipt of text alone has no time to attach") { driver in
            let dispatch = try await driver.dispatch()
            _ = try await driver.record(try driver.receipt(of: dispatch, "t", .text, attach: 29))
            let campaign = try await driver.campaign()
            #expect(campaign.sendToAttach == nil && campaign.attach == nil && campaign.firstArrivalAt != nil)
        },
        ReceiptBehavior("Percentiles are within 1 % of the measured times") { driver in
            let dispatch = try await driver.dispatch(recipients: 1_000)
            driver.clock.advance(1_000)
            // 0.1 s, 0.2 s … 100 s
            _ = try await driver.store.record(
                try (1...1_000).map { number in
                    let seconds = Double(number) / 10
                    return try driver.receipt(
                        of: dispatch, "\(number)", number.isMultiple(of: 2) ? .attached : .thumbnail,
                        attach: seconds / 10, age: 1_000 - seconds)
                })
            let campaign = try await driver.campaign()
            let (send, attach) = (try #require(campaign.sendToAttach), try #require(campaign.attach))
            #expect(send.count == 1_000 && send.max == 100 && attach.max == 10)
            for (share, found) in [(50.0, send.p50), (90, send.p90), (95, send.p95), (99, send.p99)] {
                #expect(abs(found - share) <= share / 100, "p\(Int(share)): \(found)")
            }
            #expect(abs(attach.p50 - 5) <= 0.05 && abs(attach.p99 - 9.9) <= 0.1)
        },
    ]

    static let listing: [ReceiptBehavior] = [
        ReceiptBehavior("Campaigns are listed in pages, newest first") { driver in
            for number in 0..<5 { _ = try await driver.dispatch("c\(number)") }
            _ = try await driver.dispatch("c0")
            let first = try await driver.store.campaigns(after: nil, limit: 2)
            #expect(first.campaigns.map(\.name.text) == ["c4", "c3"])
            let cursor = try #require(first.next.flatMap { CampaignCursor($0.text) })
            let second = try await driver.store.campaigns(after: cursor, limit: 3)
            #expect(second.campaigns.map(\.name.text) == ["c2", "c1", "c0"] && second.next == nil)
        },
        ReceiptBehavior("An unknown campaign does not exist, and one without receipts has no times") { driver in
            #expect(try await driver.store.campaign(try CampaignName(naming: "none")) == nil)
            #expect(try await driver.store.campaigns(after: nil, limit: 9).campaigns.isEmpty)
            let before = driver.clock.now
            _ = try await driver.dispatch()
            driver.clock.advance(60)
            _ = try await driver.dispatch()
            let campaign = try await driver.campaign()
            #expect(campaign.firstSentAt == before && campaign.lastSentAt == before + 60)
            #expect(campaign.arrivalRate == 0 && campaign.firstArrivalAt == nil && campaign.sendToAttach == nil)
        },
    ]
}
