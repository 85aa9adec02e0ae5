import AttachPrepJobs
import Foundation
import RichPush
import SQLStore
import SQLiteDatabase
import TestSupport
import Testing

/// `attachprep campaigns`, on a data folder and on a running service.
@Suite(.timeLimit(.minutes(3))) struct CampaignsCommandTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Where the command reads the campaigns.
    private enum Target: CaseIterable {
        case service
        case folder
    }

    /// Makes a receipt token with the key and the store of the data folder, as `attachprep payload` does.
    private func receipt(_ campaign: String, recipients: Int) async throws -> PushReceipt {
        let store = try await SQLiteStore.open(folder: bench.state, role: .command, feed: JobFeed())
        let receiptService = ReceiptService(
            store: store, key: try await ReceiptKey.open(folder: bench.state), baseURL: "https://push.example")
        let receipt = try await receiptService.receipt(campaign: campaign, recipients: recipients)
        await store.close()
        return receipt
    }

    private func report(_ receipt: PushReceipt, _ id: String, _ outcome: String, to service: RunningService)
        async throws
    {
        let body = #"""
            {"token": "\#(receipt.token)", "id": "\#(id)", "outcome": "\#(outcome)",
             "attachSeconds": 0.5, "ageSeconds": 0}
            """#
        let response = try await service.client.send("POST", "/v1/receipts", body: body)
        #expect(response.status == 200, "\(response.text)")
    }

    @Test(arguments: Target.allCases)
    private func `Campaigns are shown as a table, in detail and as JSON`(target: Target) async throws {
        let service = try await bench.start(["--base-url", "https://push.example"])
        let run = { (arguments: [String]) in
            try await bench.command(arguments + (target == .service ? ["--url", service.url] : [])).run()
        }
        #expect(try await run(["campaigns"]).text == "No campaigns.\n")
        let receipt = try await receipt("spring", recipients: 2_000)
        _ = try await self.receipt("autumn", recipients: 1)
        for (id, outcome) in [("a", "attached"), ("a", "attached"), ("b", "text"), ("c", "thumbnail")] {
            try await report(receipt, id, outcome, to: service)
        }
        let table = try await run(["campaigns"])
        let lines = table.lines.map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == 3 && lines[0].first == "campaign", "\(table.text)\(table.errorText)")
        #expect(lines[1].prefix(4) == ["autumn", "1", "0", "0.0%"] && lines[1].contains("-"))
        #expect(lines[2].prefix(7) == ["spring", "2,000", "3", "0.1%", "1", "1", "1"], "\(table.text)")
        let whole = try await run(["campaigns", "spring"])
        #expect(whole.text.contains("recipients 2,000\n") && whole.text.contains("on device  p50 500 ms"))
        let json = try await run(["campaigns", "--format", "json", "--limit", "1"])
        let row = try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any]
        #expect(row?["name"] as? String == "autumn" && json.lines.count == 1)
        let missing = try await run(["campaigns", "winter", "spring"])
        #expect(missing.exitCode == 1 && missing.errorText.contains("winter") && missing.text.contains("spring"))
        let metrics = try await service.client.get("/metrics").text
        #expect(metrics.contains("attachprep_receipts_total{outcome=\"repeated\"} 1"), "\(metrics)")
        #expect(metrics.contains("attachprep_send_to_attach_seconds_count 2"))
        try await service.stop()
    }

    @Test func `A receipt token is valid after a restart, and counting continues`() async throws {
        let first = try await bench.start()
        let receipt = try await receipt("spring", recipients: 9)
        try await report(receipt, "a", "attached", to: first)
        try await first.kill()
        let second = try await bench.start()
        try await report(receipt, "a", "attached", to: second)
        try await report(receipt, "b", "attached", to: second)
        let campaign = try await second.client.get("/v1/campaigns/spring").json()
        #expect(campaign["arrivals"] as? Int == 2)
        try await second.stop()
    }

    @Test func `An invalid campaign name is wrong usage`() async throws {
        #expect(try await bench.command(["campaigns", "a b"]).run().exitCode == 2)
        #expect(try await bench.command(["campaigns", "--help"]).run().text.contains("how soon"))
    }
}
