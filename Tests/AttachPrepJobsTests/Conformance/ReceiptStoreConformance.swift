import AttachPrepJobs
import Foundation
import RichPush
import Testing

/// What a driver has to do to be a `ReceiptStore`; each behaviour gets a driver of its own.
enum ReceiptStoreConformance {
    static let behaviours = counting + measuring + listing

    static let counting: [ReceiptBehaviour] = [
        ReceiptBehaviour("what was sent and what arrived is counted by campaign") { driver in
            let first = try await driver.dispatch(recipients: 3)
            _ = try await driver.dispatch(recipients: 5)
            let other = try await driver.dispatch("autumn")
            _ = try await driver.take(
                try driver.arrival(of: first), try driver.arrival(of: first, "t", .thumbnail),
                try driver.arrival(of: other, "x", .text))
            let campaign = try await driver.campaign()
            #expect(campaign.dispatches == 2 && campaign.recipients == 8 && campaign.arrivals == 2)
            #expect(campaign.outcomes == [.attached: 1, .thumbnail: 1, .text: 0])
            #expect(campaign.arrivalRate == 0.25)
            #expect(try await driver.campaign("autumn").outcomes == [.attached: 0, .thumbnail: 0, .text: 1])
        },
        ReceiptBehaviour("what is said twice counts once, and the first stays") { driver in
            let dispatch = try await driver.dispatch()
            let standings = try await driver.take(
                try driver.arrival(of: dispatch, "one", .text), try driver.arrival(of: dispatch, "one", .attached))
            #expect(standings == [.counted(sendToAttachSeconds: nil), .repeated])
            #expect(try await driver.take(try driver.arrival(of: dispatch, "one", .thumbnail)) == [.repeated])
            #expect(try await driver.campaign().outcomes == [.attached: 0, .thumbnail: 0, .text: 1])
        },
        ReceiptBehaviour("the same name in two dispatches is two arrivals, and capitals are others") { driver in
            let (one, other) = (try await driver.dispatch(), try await driver.dispatch())
            _ = try await driver.take(
                try driver.arrival(of: one, "a"), try driver.arrival(of: other, "a"), try driver.arrival(of: one, "A"))
            #expect(try await driver.campaign().arrivals == 3)
        },
        ReceiptBehaviour("no more devices than a payload is for are counted, and the first one too many is told") {
            driver in
            let dispatch = try await driver.dispatch(recipients: 2)
            let standings = try await driver.store.take(try (0..<4).map { try driver.arrival(of: dispatch, "\($0)") })
            #expect(standings.suffix(2) == [.surplus(isFirst: true), .surplus(isFirst: false)])
            #expect(try await driver.take(try driver.arrival(of: dispatch, "0")) == [.repeated])
            #expect(try await driver.take(try driver.arrival(of: dispatch, "9")) == [.surplus(isFirst: false)])
            let campaign = try await driver.campaign()
            #expect(campaign.arrivals == 2 && campaign.arrivalRate == 1)
        },
        ReceiptBehaviour("an arrival of what nobody sent is not counted") { driver in
            let unknown = try Dispatch(campaign: .standard, sentAt: driver.clock.now, recipients: 1)
            #expect(try await driver.take(try driver.arrival(of: unknown)) == [.expired])
            #expect(try await driver.store.campaign(.standard) == nil)
        },
        ReceiptBehaviour("an arrival a month later is taken and not counted") { driver in
            let dispatch = try await driver.dispatch()
            driver.clock.advance(Limits.dispatchSeconds - 1)
            #expect(try await driver.take(try driver.arrival(of: dispatch, "late")) != [.expired])
            driver.clock.advance(1)
            #expect(try await driver.take(try driver.arrival(of: dispatch, "late2")) == [.expired])
        },
        ReceiptBehaviour("the same arrival from everywhere at once counts once") { driver in
            let dispatch = try await driver.dispatch()
            let arrival = try driver.arrival(of: dispatch, "one")
            let counted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await driver.store.take([arrival]) != [.repeated] }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(counted == 1)
            #expect(try await driver.campaign().arrivals == 1)
        },
        ReceiptBehaviour("arrivals from everywhere at once are all counted, up to the recipients") { driver in
            let dispatch = try await driver.dispatch(recipients: 150)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask { _ = try await driver.take(try driver.arrival(of: dispatch)) }
                }
                try await group.waitForAll()
            }
            #expect(try await driver.campaign().arrivals == 150)
        },
    ]

    static let measuring: [ReceiptBehaviour] = [
        ReceiptBehaviour("the time to attach is the server's, less the report's age") { driver in
            let dispatch = try await driver.dispatch()
            let sentAt = driver.clock.now
            driver.clock.advance(100)
            let standings = try await driver.take(try driver.arrival(of: dispatch, "a", attach: 0.5, age: 95.5))
            #expect(standings == [.counted(sendToAttachSeconds: 4.5)])
            let campaign = try await driver.campaign()
            #expect(campaign.sendToAttach?.max == 4.5 && campaign.attach?.max == 0.5)
            #expect(campaign.firstArrivalAt == sentAt + 4.5 && campaign.lastArrivalAt == sentAt + 4.5)
        },
        ReceiptBehaviour("a report that is older than its payload was shown when it was sent") { driver in
            let dispatch = try await driver.dispatch()
            let sentAt = driver.clock.now
            driver.clock.advance(5)
            let standings = try await driver.take(try driver.arrival(of: dispatch, age: 3_600))
            #expect(standings == [.counted(sendToAttachSeconds: 0)])
            #expect(try await driver.campaign().firstArrivalAt == sentAt)
        },
        ReceiptBehaviour("text alone has no time to attach") { driver in
            let dispatch = try await driver.dispatch()
            _ = try await driver.take(try driver.arrival(of: dispatch, "t", .text, attach: 29))
            let campaign = try await driver.campaign()
            #expect(campaign.sendToAttach == nil && campaign.attach == nil && campaign.firstArrivalAt != nil)
        },
        ReceiptBehaviour("percentiles are those of what was measured, within a hundredth") { driver in
            let dispatch = try await driver.dispatch(recipients: 1_000)
            driver.clock.advance(1_000)
            // 0.1 s, 0.2 s … 100 s
            _ = try await driver.store.take(
                try (1...1_000).map { number in
                    let seconds = Double(number) / 10
                    return try driver.arrival(
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

    static let listing: [ReceiptBehaviour] = [
        ReceiptBehaviour("campaigns are listed page by page, the one that began last first") { driver in
            for number in 0..<5 { _ = try await driver.dispatch("c\(number)") }
            _ = try await driver.dispatch("c0")
            let first = try await driver.store.campaigns(after: nil, limit: 2)
            #expect(first.campaigns.map(\.name.text) == ["c4", "c3"])
            let cursor = try #require(first.next.flatMap { CampaignCursor($0.text) })
            let second = try await driver.store.campaigns(after: cursor, limit: 3)
            #expect(second.campaigns.map(\.name.text) == ["c2", "c1", "c0"] && second.next == nil)
        },
        ReceiptBehaviour("a campaign that nobody named is none, and one without arrivals has no times") { driver in
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
