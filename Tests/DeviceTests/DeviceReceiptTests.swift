import Foundation
import RichPush
import TestSupport
import Testing

/// Receipts are reported once, and kept until the service accepts them.
struct DeviceReceiptTests {
    private let server: LoopbackServer
    private let device: SimulatedDevice
    private let folder: TemporaryFolder

    init() throws {
        device = try SimulatedDevice.shared
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.serve("/cat.jpg", .body(DeviceFile.image, type: "image/jpeg"))
        server.serve("/small.jpg", .body(DeviceFile.thumbnail, type: "image/jpeg"))
        server.serve("/receipts", .status(202))
    }

    private func run(_ attachment: String? = nil, token: String = "token") async throws -> DeviceReport {
        let receipt = #"{"url": "\#(server.url("/receipts"))", "token": "\#(token)"}"#
        let payload = DevicePayload(attachments: attachment.map { [$0] } ?? [], receipt: receipt)
        return try await device.run(payload.text, in: folder)
    }

    private var reports: [PushReceiptReport] {
        get throws {
            try server.requests(to: "/receipts").map { try JSONDecoder().decode(PushReceiptReport.self, from: $0.body) }
        }
    }

    @Test func `A receipt reports what was displayed`() async throws {
        let missing = server.url("/missing.jpg")
        _ = try await run(DevicePayload.attachment(server.url("/cat.jpg")))
        _ = try await run(DevicePayload.attachment(missing, thumbnail: server.url("/small.jpg")))
        _ = try await run(DevicePayload.attachment(missing))
        let shown = try await run()
        #expect(try reports.map(\.outcome) == [.attached, .thumbnail, .text, .text])
        #expect(try reports.allSatisfy { $0.token == "token" && $0.attachSeconds >= 0 && $0.ageSeconds >= 0 })
        #expect(Set(try reports.map(\.id)).count == 4)
        #expect(shown.receipts == 0)
        let request = try #require(server.requests(to: "/receipts").first)
        #expect(request.method == "POST" && request.headers["content-type"] == "application/json")
    }

    @Test(arguments: [503, 500, 429, 408, 302])
    func `A receipt is kept after a temporary error and sent with the next one`(status: Int) async throws {
        server.serve("/receipts", .status(status, ["Location": server.url("/elsewhere")]))
        #expect(try await run(token: "one").receipts == 1)
        server.serve("/receipts", .status(202))
        #expect(try await run(token: "two").receipts == 0)
        let reports = try reports
        #expect(reports.map(\.token) == ["one", "two", "one"])
        // The same receipt by its ID; older than before.
        #expect(reports[0].id == reports[2].id && reports[0].ageSeconds <= reports[2].ageSeconds)
        #expect(server.requests(to: "/elsewhere").isEmpty)
    }

    @Test func `The app sends left-over receipts when it starts`() async throws {
        server.serve("/receipts", .status(503))
        _ = try await run(token: "one")
        #expect(try await run(token: "two").receipts == 2)
        #expect(try await device.startApp(in: folder) == 2)
        server.serve("/receipts", .status(202))
        #expect(try await device.startApp(in: folder) == 0)
        // After a temporary error, the rest waits for the next start.
        #expect(try reports.map(\.token) == ["one", "two", "two", "two", "one"])
        #expect(try Set(reports.map(\.id)).count == 2)
        #expect(try await device.startApp(in: folder) == 0)
    }

    @Test func `The app does not send the receipt of a notification that is being processed`() async throws {
        try store("recent", secondsAgo: 5)
        #expect(try await device.startApp(in: folder) == 0)
        #expect(server.requests(to: "/receipts").isEmpty)
        #expect(try folder.contents().contains { $0.hasSuffix("-recent.json") })
    }

    @Test func `Receipts are kept when the service is unreachable`() async throws {
        server.stop()
        #expect(try await run().receipts == 1)
        #expect(try await run().receipts == 2)
    }

    @Test(arguments: [400, 401, 404, 410]) func `A receipt is dropped after a permanent error`(status: Int) async throws
    {
        server.serve("/receipts", .status(status))
        #expect(try await run().receipts == 0)
        #expect(try reports.count == 1)
    }

    /// Stores an earlier receipt in the extension's format.
    private func store(_ name: String, secondsAgo: Double, outcome: String = "") throws {
        let arrived = Date().timeIntervalSince1970 - secondsAgo
        let receipt = #"{"url": "\#(server.url("/receipts"))", "token": "\#(name)"}"#
        try folder.makeFolder("receipts")
        try folder.write(
            #"{"receipt": \#(receipt), "id": "\#(name)", \#(outcome)"attachSeconds": 24, "arrived": \#(arrived)}"#,
            to: "receipts/00\(Int(arrived * 1_000))-\(name).json")
    }

    @Test func `The newest hundred receipts are kept`() async throws {
        for number in 1...150 { try store("\(number)", secondsAgo: Double(number), outcome: #""outcome": "text", "#) }
        server.serve("/receipts", .status(503))
        #expect(try await run().receipts == 100)
        let kept = try folder.contents()
        #expect(kept.contains { $0.hasSuffix("-99.json") } && !kept.contains { $0.hasSuffix("-100.json") })
        // A failing service gets one request, not a hundred.
        #expect(try reports.count == 1)
    }

    @Test func `Invalid receipts and those older than a week are dropped`() async throws {
        try folder.makeFolder("receipts")
        try folder.write("{}", to: "receipts/000000000000001-broken.json")
        try store("old", secondsAgo: 8 * 24 * 3_600)
        #expect(try await run().receipts == 0)
        #expect(try reports.map(\.token) == ["token"])
    }

    @Test func `A receipt of an extension killed before delivery is sent by the next run`() async throws {
        try store("killed", secondsAgo: 100)
        #expect(try await run().receipts == 0)
        let report = try #require(try reports.first { $0.token == "killed" })
        #expect(report.id == "killed" && report.outcome == .text && report.ageSeconds >= 76)
    }
}
