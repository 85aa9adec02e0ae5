import Foundation
import TestSupport
import Testing

/// iOS ends the extension when it likes: what there is is shown, once, and nothing stays behind.
struct DeviceExpiryTests {
    private let server: LoopbackServer
    private let device: BuiltDevice
    private let folder: TemporaryFolder

    init() throws {
        device = try BuiltDevice.shared
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.serve("/small.jpg", .body(DeviceFile.thumbnail, type: "image/jpeg"))
    }

    private func movie(thumbnail: String? = nil) -> String {
        DevicePayload(attachments: [
            DevicePayload.attachment(server.url("/cat.mp4"), type: "public.mpeg-4", thumbnail: thumbnail)
        ]).text
    }

    @Test func `In the middle of a download the text is shown, and the download ends`() async throws {
        let begun = LoopbackGate()
        server.serve("/cat.mp4", .start(of: DeviceFile.picture, bytes: 10_000).then(.open(begun), .hang))
        let command = try device.start(movie(), in: folder)
        await begun.untilOpen()
        command.send(SIGUSR1)
        let shown = try Shown(try await command.result())
        #expect(shown.handedOver == 1 && shown.attachments.isEmpty && shown.title == "Cats")
        #expect(shown.left.isEmpty)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A thumbnail that has come meanwhile is shown`() async throws {
        server.serve("/cat.mp4", .start(of: DeviceFile.picture, bytes: 10_000).then(.hang))
        let command = try device.start(
            movie(thumbnail: server.url("/small.jpg")), in: folder, ["--deadline", "40"])
        try await waitUntil("the thumbnail") {
            (try? command.errorTextSoFar().contains("0-thumbnail: kept")) ?? false
        }
        command.send(SIGUSR1)
        let shown = try Shown(try await command.result())
        #expect(shown.handedOver == 1)
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
        #expect(shown.left.isEmpty)
    }

    @Test func `What an earlier run left is swept, and what may still be in use is not`() async throws {
        let old = try folder.makeFolder("media/old")
        try folder.write("left", to: "media/old/attachment.jpg")
        try folder.makeFolder("media/new")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: old)
        let thumbnail = DevicePayload.attachment(server.url("/small.jpg"))
        let shown = try await device.run(DevicePayload(attachments: [thumbnail]).text, in: folder)
        #expect(shown.left == ["new"])
    }

    @Test func `Fifty megabytes do not pass through memory`() async throws {
        let movie = Data(count: 50_000_000)
        // At 25 MB/s, five times Wi-Fi: what loopback brings faster waits in Foundation's own queues on Linux.
        let piece = LoopbackAnswer.Step.send(Data(count: 249_999))
        let pieces = (0..<200).flatMap { _ in [piece, .drip(Data(count: 1), pauseMilliseconds: 10)] }
        let head = LoopbackAnswer.start(of: movie, bytes: 0, ["Content-Type": "video/mp4"])
        server.serve("/cat.mp4", LoopbackAnswer(head.steps + pieces))
        let digest = try DeviceFile.sha256(movie)
        let payload = DevicePayload(attachments: [
            DevicePayload.attachment(
                server.url("/cat.mp4"), type: "public.mpeg-4", bytes: movie.count, sha256: digest)
        ])
        let shown = try await device.run(payload.text, in: folder)
        #expect(shown.attachments.map(\.sha256) == [digest])
        // Kilobytes; the session itself takes some 9,000 for the smallest file.
        #expect(shown.memoryPeak - shown.memoryStart < 30_000)
    }
}
