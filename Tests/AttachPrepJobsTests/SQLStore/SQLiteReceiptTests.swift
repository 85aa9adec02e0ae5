import AttachPrepJobs
import Foundation
import GRDB
import MediaTypes
import TestSupport
import Testing

@Suite struct SQLiteReceiptTests {
    private func rows(_ folder: TemporaryFolder, _ table: String) async throws -> Int {
        let queue = try folder.openDatabase()
        return try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? -1 }
    }

    @Test func `Counts are kept across a restart, and receipts are not counted again`() async throws {
        let (folder, clock) = (try TemporaryFolder(), TestClock())
        let before = try await SQLiteUnderTest(folder: folder, clock: clock)
        let driver = before.receipts
        let dispatch = try await driver.dispatch(recipients: 2)
        _ = try await driver.record(try driver.receipt(of: dispatch, "one"))
        let campaign = try await driver.campaign()
        await before.store.close()
        let after = try await SQLiteUnderTest(folder: folder, clock: clock)
        #expect(try await after.store.campaign(dispatch.campaign) == campaign)
        let statuses = try await after.store.record([
            try driver.receipt(of: dispatch, "one"), try driver.receipt(of: dispatch, "two"),
            try driver.receipt(of: dispatch, "three"),
        ])
        #expect(statuses[0] == .repeated && statuses[2] == .surplus(isFirst: true))
        #expect(try await after.store.campaign(dispatch.campaign)?.arrivals == 2)
    }

    @Test func `A command can store dispatches while the service runs`() async throws {
        let service = try await SQLiteUnderTest()
        let command = try await SQLiteUnderTest(folder: service.folder, clock: service.clock, role: .command)
        let dispatch = try await command.receipts.dispatch()
        #expect(try await service.store.record([try service.receipts.receipt(of: dispatch)]) != [.expired])
        #expect(try await command.receipts.campaign().arrivals == 1)
    }

    @Test func `Receipts are removed with their dispatch after a month, and their campaign keeps its counts`()
        async throws
    {
        let sqlite = try await SQLiteUnderTest()
        let driver = sqlite.receipts
        let old = try await driver.dispatch(recipients: 2_000)
        _ = try await driver.store.record(try (0..<1_300).map { try driver.receipt(of: old, "\($0)") })
        sqlite.clock.advance(Limits.dispatchSeconds - 10)
        let young = try await driver.dispatch()
        _ = try await driver.record(try driver.receipt(of: young, "young"))
        #expect(try await sqlite.store.sweep().receipts == 0)
        sqlite.clock.advance(10)
        #expect(try await sqlite.store.sweep().receipts == 1_300)
        #expect(try await rows(sqlite.folder, "receipt") == 1)
        #expect(try await rows(sqlite.folder, "dispatch") == 1)
        #expect(try await driver.record(try driver.receipt(of: old, "0")) == [.expired])
        #expect(try await driver.record(try driver.receipt(of: young, "young")) == [.repeated])
        let campaign = try await driver.campaign()
        #expect(campaign.arrivals == 1_301 && campaign.recipients == 2_010 && campaign.sendToAttach?.count == 1_301)
    }

    @Test func `A campaign is removed after its retention without use`() async throws {
        let sqlite = try await SQLiteUnderTest()
        for number in 0..<25 { _ = try await sqlite.receipts.dispatch("c\(number)") }
        let late = try await sqlite.receipts.dispatch("late")
        _ = try await sqlite.receipts.record(try sqlite.receipts.receipt(of: late))
        sqlite.clock.advance(Limits.campaignSeconds - 5)
        _ = try await sqlite.receipts.dispatch("late")
        sqlite.clock.advance(5)
        let report = try await sqlite.store.sweep()
        #expect(report.campaigns == 25 && report.receipts == 1)
        #expect(try await sqlite.store.campaigns(after: nil, limit: 9).campaigns.map(\.name.text) == ["late"])
        sqlite.clock.advance(Limits.campaignSeconds)
        #expect(try await sqlite.store.sweep().campaigns == 1)
        #expect(try await rows(sqlite.folder, "campaign_bucket") == 0)
    }

    @Test func `The retention of a planned dispatch starts when it is sent`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let day = 86_400.0
        let planned = try Dispatch(campaign: .standard, sentAt: sqlite.clock.now + 7 * day, recipients: 1)
        let endless = try Dispatch(campaign: .standard, sentAt: .distantFuture, recipients: 1)
        let ancient = try Dispatch(campaign: .standard, sentAt: .distantPast, recipients: 1)
        for dispatch in [planned, endless, ancient] { try await sqlite.store.store(dispatch) }
        sqlite.clock.advance(Limits.dispatchSeconds)
        _ = try await sqlite.store.sweep()
        #expect(try await rows(sqlite.folder, "dispatch") == 2)
        sqlite.clock.advance(7 * day)
        _ = try await sqlite.store.sweep()
        #expect(try await rows(sqlite.folder, "dispatch") == 1)
        sqlite.clock.advance(Limits.dispatchSeconds)
        _ = try await sqlite.store.sweep()
        #expect(try await rows(sqlite.folder, "dispatch") == 0)
    }

    @Test func `Receipts of dispatches with extreme dates do not break their campaign's counts`() async throws {
        let sqlite = try await SQLiteUnderTest()
        for date in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: -1e30)] {
            let dispatch = try Dispatch(campaign: .standard, sentAt: date, recipients: 1)
            try await sqlite.store.store(dispatch)
            _ = try await sqlite.store.record([try sqlite.receipts.receipt(of: dispatch)])
        }
        let campaign = try #require(try await sqlite.store.campaign(.standard))
        #expect(campaign.arrivals == 3 && campaign.sendToAttach?.count == 3)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"))
    func `A campaign counts two hundred thousand receipts`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let driver = sqlite.receipts
        let count = 200_000
        let dispatch = try await driver.dispatch(recipients: count)
        sqlite.clock.advance(86_400)
        var seconds = 0.0
        for start in stride(from: 0, to: count, by: 1_000) {
            let receipts = try (start..<start + 1_000).map { number in
                try driver.receipt(of: dispatch, "\(number)", attach: .random(in: 0...30), age: .random(in: 0...86_400))
            }
            let begin = ContinuousClock.now
            _ = try await driver.store.record(receipts)
            seconds += (ContinuousClock.now - begin) / .seconds(1)
        }
        let begin = ContinuousClock.now
        let campaign = try await driver.campaign()
        print("stored: \(Int(Double(count) / seconds)) receipts/s; read in \(ContinuousClock.now - begin)")
        #expect(campaign.arrivals == count && campaign.sendToAttach?.count == count)
    }
}
