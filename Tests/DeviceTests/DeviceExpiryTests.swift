import Foundation
import TestSupport
import Testing

/// When iOS ends the extension, it displays what is available, once, and leaves no files behind.
struct DeviceExpiryTests {
    private let server: LoopbackServer
    private let device: SimulatedDevice
    private let folder: TemporaryFolder

    init() throws {
        device = try SimulatedDevice.shared
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.serve("/small.jpg", .body(DeviceFile.thumbnail, type: "image/jpeg"))
    }

    private func movie(thumbnail: String? = nil) -> String {
        DevicePayload(attachments: [
            DevicePayload.attachment(server.url("/cat.mp4"), type: "public.mpeg-4", thumbnail: thumbnail)
        ]).text
    }

    @Test func `When time runs out during a download, the text is displayed and the download ends`() async throws {
        let begun = LoopbackGate()
        server.serve("/cat.mp4", .start(of: DeviceFile.image, bytes: 10_000).then(.open(begun), .hang))
        let command = try device.start(movie(), in: folder)
        await begun.waitUntilOpen()
        command.send(SIGUSR1)
        let shown = try DeviceReport(try await command.result())
        #expect(shown.handedOver == 1 && shown.attachments.isEmpty && shown.title == "Cats")
        #expect(shown.left.isEmpty)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `When time runs out, a thumbnail that has arrived is displayed`() async throws {
        server.serve("/cat.mp4", .start(of: DeviceFile.image, bytes: 10_000).then(.hang))
        let command = try device.start(
            movie(thumbnail: server.url("/small.jpg")), in: folder, ["--timeout", "29"])
        try await waitUntil("the thumbnail") {
            (try? command.errorTextSoFar().contains("0-thumbnail: kept")) ?? false
        }
        command.send(SIGUSR1)
        let shown = try DeviceReport(try await command.result())
        #expect(shown.handedOver == 1)
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
        #expect(shown.left.isEmpty)
    }

    @Test func `Old files of an earlier run are removed, recent ones are kept`() async throws {
        let old = try folder.makeFolder("media/old")
        try folder.write("left", to: "media/old/attachment.jpg")
        try folder.makeFolder("media/new")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: old)
        let thumbnail = DevicePayload.attachment(server.url("/small.jpg"))
        let shown = try await device.run(DevicePayload(attachments: [thumbnail]).text, in: folder)
        #expect(shown.left == ["new"])
    }

    @Test func `A file of 50 MB is streamed to disk, not held in memory`() async throws {
        let movie = Data(count: 50_000_000)
        // At 25 MB/s, five times Wi-Fi: at a higher rate, Foundation on Linux queues the data in memory.
        let piece = LoopbackResponse.Step.send(Data(count: 249_999))
        let pieces = (0..<200).flatMap { _ in [piece, .drip(Data(count: 1), pauseMilliseconds: 10)] }
        let head = LoopbackResponse.start(of: movie, bytes: 0, ["Content-Type": "video/mp4"])
        server.serve("/cat.mp4", LoopbackResponse(head.steps + pieces))
        let digest = try DeviceFile.sha256(movie)
        let payload = DevicePayload(attachments: [
            DevicePayload.attachment(
                server.url("/cat.mp4"), type: "public.mpeg-4", bytes: movie.count, sha256: digest)
        ])
        let shown = try await device.run(payload.text, in: folder)
        #expect(shown.attachments.map(\.sha256) == [digest])
        // In KB; URLSession alone takes about 9,000 for the smallest file.
        #expect(shown.memoryPeak - shown.memoryStart < 30_000)
    }
}
