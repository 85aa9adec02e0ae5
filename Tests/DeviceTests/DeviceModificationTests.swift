import Foundation
import TestSupport
import Testing

/// What an app's override of `modify` changes is shown, in time or as the best attempt.
struct DeviceModificationTests {
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

    private func payload(_ path: String, thumbnail: String? = nil) -> String {
        let attachment = DevicePayload.attachment(
            server.url(path), thumbnail: thumbnail.map { server.url($0) })
        let receipt = #"{"url": "\#(server.url("/receipts"))", "token": "token"}"#
        return DevicePayload(attachments: [attachment], receipt: receipt).text
    }

    @Test func `A title is made from the app's own key and the attachments that arrived`() async throws {
        let guest = #"{"aps": {"alert": "Hi"}, "podcast-guest": "Ann", "podcast-image": "\#(server.url("/cat.jpg"))"}"#
        let shown = try await device.run(guest, in: folder, ["--modify", "title"])
        #expect(shown.title == #"Ann, ["0"]"#)
        #expect(shown.attachments.map(\.bytes) == [20_000])
        #expect(shown.handedOver == 1 && shown.left.isEmpty)
    }

    @Test func `A notification without media is modified`() async throws {
        let guest = #"{"aps": {"alert": "Hi"}, "podcast-guest": "Ann"}"#
        #expect(try await device.run(guest, in: folder, ["--modify", "title"]).title == "Ann, []")
    }

    @Test func `Media and receipt of a payload that modify decrypts are used`() async throws {
        let inner = String(payload("/cat.jpg").dropFirst())
        let data = Data((#"{"title": "Secret", "# + inner).utf8)
        let outer = #"{"aps": {"alert": "New message"}, "encrypted": "\#(data.base64EncodedString())"}"#
        let shown = try await device.run(outer, in: folder, ["--modify", "decrypt"])
        #expect(shown.title == "Secret" && shown.attachments.map(\.bytes) == [20_000])
        #expect(server.requests(to: "/receipts").count == 1 && shown.receipts == 0)
    }

    @Test func `An attachment can be read and removed, as for a sender's avatar`() async throws {
        let shown = try await device.run(payload("/cat.jpg"), in: folder, ["--modify", "avatar"])
        #expect(shown.title == "avatar of 20000 bytes" && shown.attachments.isEmpty)
        #expect(shown.left.isEmpty)
    }

    @Test(arguments: ["/cat.jpg", "/missing.jpg"])
    func `The sender's picture of the payload is passed to modify and is not attached`(path: String) async throws {
        let media = DevicePayload.attachment(server.url(path))
        let payload = DevicePayload(attachments: [media], avatar: server.url("/small.jpg"))
        let shown = try await device.run(payload.text, in: folder, ["--modify", "title"])
        let attached = path == "/cat.jpg" ? ["0"] : []
        #expect(shown.title == "nobody, \(attached + ["avatar"])")
        #expect(shown.attachments.map(\.identifier) == attached && shown.left.isEmpty)
    }

    @Test func `The thumbnail is modified as well when it is shown`() async throws {
        let shown = try await device.run(
            payload("/missing.jpg", thumbnail: "/small.jpg"), in: folder, ["--modify", "title"])
        #expect(shown.title == #"nobody, ["0-thumbnail"]"#)
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
    }

    @Test func `When modify does not return, the text is shown at the timeout`() async throws {
        let shown = try await device.run(payload("/cat.jpg"), in: folder, ["--modify", "hang", "--timeout", "1"])
        #expect(shown.handedOver == 1 && shown.title == "Cats" && shown.attachments.isEmpty)
        #expect(server.requests(to: "/cat.jpg").isEmpty)
    }

    @Test func `When iOS ends the extension during modify, the earlier result is shown with what arrived since`()
        async throws
    {
        let command = try device.start(payload("/cat.jpg"), in: folder, ["--modify", "hang once attached"])
        try await waitUntil("the call of modify") { (try? command.errorTextSoFar().contains("hangs")) ?? false }
        command.send(SIGUSR1)
        let shown = try DeviceReport(try await command.result())
        #expect(shown.handedOver == 1 && shown.title == "no attachment yet")
        #expect(shown.attachments.map(\.bytes) == [20_000])
        #expect(shown.left.isEmpty)
    }
}
