import AttachPrepJobs
import AttachPrepModel
import Foundation
import Logging
import RichPush
import Synchronization
import Testing

@Suite struct ReceiptServiceTests {
    /// Counts warnings.
    private struct WarningCounter: LogHandler {
        let warnings: WarningCount
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if event.level == .warning { warnings.add() }
        }
    }

    private final class WarningCount: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    private func report(
        _ receipt: PushReceipt, _ id: String, _ outcome: PushReceiptReport.Outcome = .attached
    ) -> PushReceiptReport {
        PushReceiptReport(token: receipt.token, id: id, outcome: outcome, attachSeconds: 1, ageSeconds: 0)
    }

    @Test func `A receipt's URL leads to the service, and its token is accepted`() async throws {
        let sqlite = try await SQLiteUnderTest()
        for base in ["https://push.example/a", "https://push.example/a/"] {
            let receiptService = ReceiptService(store: sqlite.store, key: .random(), baseURL: base)
            let receipt = try await receiptService.receipt(campaign: nil, recipients: 3, sentAt: sqlite.clock.now)
            #expect(receipt.url == "https://push.example/a/v1/receipts")
            let statuses = try await receiptService.record([try receiptService.arrival(report(receipt, "a"))])
            #expect(statuses == [.counted(sendToAttachSeconds: 0)])
        }
        #expect(try await sqlite.store.campaign(.standard)?.arrivals == 2)
    }

    @Test func `Without a base URL, there are no receipts, and no campaign is stored`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let receiptService = ReceiptService(store: sqlite.store, key: .random(), baseURL: nil)
        let error = await #expect(throws: AttachPrepError.self) {
            try await receiptService.receipt(campaign: "a", recipients: 1)
        }
        #expect(error?.message.contains("base URL") == true)
        #expect(try await receiptService.campaigns(after: nil, limit: 9).campaigns.isEmpty)
    }

    @Test func `Receipts are counted in the metrics, and a surplus is logged as a warning once`() async throws {
        let (sqlite, metrics, warnings) = (try await SQLiteUnderTest(), CountedMetrics(), WarningCount())
        let receiptService = ReceiptService(
            store: sqlite.store, key: .random(), baseURL: "https://a.example",
            metrics: ReceiptMetrics(factory: metrics),
            logger: Logger(label: "test") { _ in WarningCounter(warnings: warnings) })
        let receipt = try await receiptService.receipt(campaign: "a", recipients: 2, sentAt: sqlite.clock.now)
        let reports = [
            report(receipt, "a"), report(receipt, "a"), report(receipt, "b", .text), report(receipt, "c"),
            report(receipt, "d"),
        ]
        _ = try await receiptService.record(try reports.map { try receiptService.arrival($0) })
        #expect(throws: AttachPrepError.self) {
            try receiptService.arrival(report(PushReceipt(url: "", token: "x"), "a"))
        }
        let counts = ["attached", "thumbnail", "text", "repeated", "surplus", "expired", "refused"]
            .map { metrics.value("receipts_total{outcome=\($0)}") }
        #expect(counts == [1, 0, 1, 1, 2, 0, 1])
        #expect(metrics.value("send_to_attach_seconds") == 1)
        #expect(warnings.count == 1)
    }
}
