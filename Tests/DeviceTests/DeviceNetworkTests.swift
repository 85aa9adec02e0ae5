import Foundation
import TestSupport
import Testing

/// What is fetched over cellular and in Low Data Mode, and what a lost connection costs.
struct DeviceNetworkTests {
    private let server: LoopbackServer
    private let device: SimulatedDevice
    private let folder: TemporaryFolder

    init() throws {
        device = try SimulatedDevice.shared
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.serve("/cat.jpg", .body(DeviceFile.image, type: "image/jpeg"))
        server.serve("/small.jpg", .body(DeviceFile.thumbnail, type: "image/jpeg"))
    }

    private func run(
        _ path: String, bytes: Int? = nil, network: String, limits: String = #"{"ExpensiveBytesMax": 10000}"#
    ) async throws -> DeviceReport {
        let attachment = DevicePayload.attachment(server.url(path), bytes: bytes, thumbnail: server.url("/small.jpg"))
        let command = try device.start(
            DevicePayload(attachments: [attachment]).text, in: folder, ["--info", limits],
            environment: ["SIMULATED_NETWORK": network])
        return try DeviceReport(try await command.result())
    }

    @Test func `Over cellular, a file over the app's limit is not requested, and its thumbnail is shown`() async throws
    {
        let shown = try await run("/cat.jpg", bytes: 20_000, network: "expensive")
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
        #expect(server.requests.map(\.path) == ["/small.jpg"])
        #expect(try await run("/cat.jpg", bytes: 20_000, network: "").attachments.map(\.bytes) == [20_000])
    }

    @Test func `A length that the payload does not give is checked in the response header`() async throws {
        let head = LoopbackResponse.start(of: DeviceFile.image, bytes: 100, ["Content-Type": "image/jpeg"])
        server.serve("/cat.jpg", head.then(.hang))
        let shown = try await run("/cat.jpg", network: "expensive")
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"] && shown.seconds < 5)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A file of unknown length counts as large`() async throws {
        let head = LoopbackResponse.lines("Content-Type: image/jpeg")
        server.serve("/cat.jpg", head.then(.send(DeviceFile.thumbnail), .close))
        #expect(try await run("/cat.jpg", network: "expensive").attachments.map(\.file) == ["thumbnail.jpg"])
        #expect(try await run("/cat.jpg", network: "").attachments.map(\.file) == ["attachment.jpg"])
    }

    @Test func `In Low Data Mode, the limit is 1 MB unless the app sets another`() async throws {
        let image = Data(count: 1_000_001)
        server.serve("/cat.jpg", .body(image, type: "image/jpeg"))
        let shown = try await run("/cat.jpg", network: "constrained")
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
        let larger = #"{"ConstrainedBytesMax": 2000000}"#
        let whole = try await run("/cat.jpg", network: "constrained", limits: larger)
        #expect(whole.attachments.map(\.bytes) == [1_000_001])
    }

    @Test func `Without an answer of the system, the network counts as unlimited`() async throws {
        let shown = try await run("/cat.jpg", bytes: 20_000, network: "silent")
        #expect(shown.attachments.map(\.bytes) == [20_000] && shown.seconds < 3)
    }

    private func runWithSmaller(_ path: String, network: String) async throws -> DeviceReport {
        let attachment = DevicePayload.attachment(server.url(path), smaller: server.url("/small.jpg"))
        let command = try device.start(
            DevicePayload(attachments: [attachment]).text, in: folder, environment: ["SIMULATED_NETWORK": network])
        return try DeviceReport(try await command.result())
    }

    @Test(arguments: ["expensive", "constrained"])
    func `Over cellular and in Low Data Mode, the smaller rendition is fetched instead`(network: String) async throws {
        let shown = try await runWithSmaller("/cat.jpg", network: network)
        #expect(shown.attachments.map(\.identifier) == ["0-smaller"])
        #expect(server.requests.map(\.path) == ["/small.jpg"])
        #expect(try await runWithSmaller("/cat.jpg", network: "").attachments.map(\.identifier) == ["0"])
    }

    @Test func `Without its smaller rendition, an attachment is fetched over cellular as well`() async throws {
        server.serve("/small.jpg", .status(404))
        let shown = try await runWithSmaller("/cat.jpg", network: "expensive")
        #expect(shown.attachments.map(\.identifier) == ["0"])
    }

    @Test func `A file whose rest would arrive too late is given up for its smaller rendition`() async throws {
        let head = LoopbackResponse.start(of: DeviceFile.image, bytes: 100, ["Content-Type": "image/jpeg"])
        server.serve("/cat.jpg", head.then(.hang))
        let shown = try await runWithSmaller("/cat.jpg", network: "")
        #expect(shown.attachments.map(\.identifier) == ["0-smaller"] && shown.seconds < 8)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A lost connection is tried once more`() async throws {
        let image = DeviceFile.image
        server.serve("/lost.jpg") { request in
            request.number == 1
                ? .start(of: image, bytes: 10_000).then(.reset) : .body(image, type: "image/jpeg")
        }
        #expect(try await run("/lost.jpg", bytes: 20_000, network: "").attachments.map(\.bytes) == [20_000])
        server.serve("/never.jpg", .start(of: image, bytes: 10_000).then(.reset))
        let shown = try await run("/never.jpg", bytes: 20_000, network: "")
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
        #expect(server.requests(to: "/never.jpg").count == 2)
    }
}
