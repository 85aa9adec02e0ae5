import Foundation
import RichPush
import SealedMedia
import TestSupport
import Testing

/// Sealed media on the simulated device: opened from file to file, and attached only when all of it is verified.
struct DeviceSealedTests {
    private let server: LoopbackServer
    private let device: SimulatedDevice
    private let secret = SealedSecret.make()

    init() throws {
        device = try SimulatedDevice.shared
        server = try LoopbackServer()
        serve("/sealed", try sealed(DeviceFile.image))
        serve("/small", try sealed(DeviceFile.thumbnail, role: .thumbnail))
    }

    private func serve(_ path: String, _ data: Data) {
        server.serve(path, .body(data, type: "application/octet-stream"))
    }

    private func sealed(
        _ content: Data, type: String = "image/jpeg", role: SealedRole = .attachment
    ) throws -> Data {
        try DeviceFile.sealed(content, with: secret, type: type, role: role)
    }

    private func payload(
        _ path: String = "/sealed", bytes: Int = DeviceFile.image.count, kind: String = "image", secret: String? = nil,
        hasThumbnail: Bool = false
    ) -> String {
        let thumbnail =
            hasThumbnail
            ? #", "thumbnail": {"url": "\#(server.url("/small"))", "sealed": {"kind": "image", "bytes": "#
                + "\(DeviceFile.thumbnail.count)}}" : ""
        let seal = #"{"secret": "\#(secret ?? self.secret.text)", "kind": "\#(kind)", "bytes": \#(bytes)}"#
        return DevicePayload(attachments: [
            #"{"id": "0", "url": "\#(server.url(path))", "sealed": \#(seal)\#(thumbnail)}"#
        ]).text
    }

    @Test func `A sealed attachment is displayed open, with its type`() async throws {
        let shown = try await device.run(payload(hasThumbnail: true))
        let attachment = try #require(shown.attachments.first)
        #expect(attachment.file == "attachment.jpg" && attachment.uti == "public.jpeg")
        #expect(try attachment.sha256 == DeviceFile.sha256(DeviceFile.image))
        #expect(shown.left.isEmpty && shown.handedOver == 1)
        #expect(server.requests.map(\.path) == ["/sealed"])
    }

    @Test func `A sealed thumbnail is displayed when the attachment does not arrive`() async throws {
        let shown = try await device.run(payload("/missing", hasThumbnail: true))
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
        #expect(try shown.attachments.first?.sha256 == DeviceFile.sha256(DeviceFile.thumbnail))
    }

    @Test func `A movie is planned by the kind beside the secret`() async throws {
        serve("/movie", try sealed(DeviceFile.image, type: "video/mp4"))
        let shown = try await device.run(payload("/movie", kind: "movie"))
        #expect(shown.attachments.map(\.uti) == ["public.mpeg-4"])
    }

    @Test func `A file that was cut, changed, extended or swapped is not displayed and not left`() async throws {
        let whole = try sealed(Data(count: 200_000) + DeviceFile.image)
        var flipped = whole
        flipped[whole.count - 20] ^= 1
        let chunk = 65_552
        let (first, second) = (whole[34..<(34 + chunk)], whole[(34 + chunk)..<(34 + 2 * chunk)])
        let attacks = [
            "cut": whole.dropLast(5_000), "at a chunk": whole.prefix(34 + 2 * chunk), "flipped": flipped,
            "extended": whole + Data(count: chunk), "empty": Data(), "plain": DeviceFile.image,
            "swapped": whole.prefix(34) + second + first + whole.dropFirst(34 + 2 * chunk),
            "thumbnail": try sealed(DeviceFile.image, role: .thumbnail),
        ]
        for (name, attack) in attacks {
            let path = "/\(name.filter { $0 != " " })"
            serve(path, Data(attack))
            let bytes = name == "thumbnail" ? DeviceFile.image.count : 220_000
            let shown = try await device.run(payload(path, bytes: bytes))
            #expect(shown.handedOver == 1 && shown.attachments.isEmpty && shown.title == "Cats", "\(name)")
            #expect(shown.left.isEmpty, "\(name)")
        }
    }

    @Test func `Another secret, kind or length than that of the payload displays the text`() async throws {
        let payloads = [
            payload(secret: SealedSecret.make().text), payload(secret: "not a secret"), payload(kind: "movie"),
            payload(bytes: DeviceFile.image.count + 1), payload(bytes: 11_000_000),
        ]
        for payload in payloads {
            let shown = try await device.run(payload)
            #expect(shown.attachments.isEmpty && shown.title == "Cats" && shown.left.isEmpty, "\(payload)")
        }
    }

    @Test func `A file that is open when time runs out is displayed, one that is not is removed`() async throws {
        let gate = LoopbackGate()
        let whole = try sealed(Data(count: 200_000))
        server.serve("/slow", .start(of: whole, bytes: 100_000).then(.open(gate), .hang))
        let folder = try TemporaryFolder()
        let command = try device.start(payload("/slow", bytes: 200_000), in: folder)
        await gate.waitUntilOpen()
        command.send(SIGUSR1)
        let shown = try DeviceReport(try await command.result())
        #expect(shown.handedOver == 1 && shown.attachments.isEmpty && shown.left.isEmpty)
    }

    @Test func `The secret may be in a payload that the app decrypts`() async throws {
        let inner = #"{"title": "Decrypted", \#(payload().dropFirst())"#
        let text = Data(inner.utf8).base64EncodedString()
        let outer = #"{"aps": {"alert": "x", "mutable-content": 1}, "encrypted": "\#(text)"}"#
        let shown = try await device.run(outer, in: nil, ["--modify", "decrypt"])
        #expect(shown.title == "Decrypted" && shown.attachments.map(\.file) == ["attachment.jpg"])
    }

    @Test func `Opening a movie of 50 MB takes at most 4 MB more than attaching it open`() async throws {
        let movie = Data((0..<49_000_000).map { UInt8(truncatingIfNeeded: $0 &* 131) })
        serve("/large", try sealed(movie, type: "video/mp4"))
        server.serve("/plain.mp4", .body(movie, type: "video/mp4"))
        let attachment = DevicePayload.attachment(server.url("/plain.mp4"), type: "public.mpeg-4")
        let plain = try await device.run(DevicePayload(attachments: [attachment]).text)
        let opened = try await device.run(payload("/large", bytes: movie.count, kind: "movie"))
        #expect(plain.attachments.first?.bytes == movie.count && opened.attachments.first?.bytes == movie.count)
        // In KB. URLSession on Linux keeps what it receives in memory, the same in both.
        let more = (opened.memoryPeak - opened.memoryStart) - (plain.memoryPeak - plain.memoryStart)
        #expect(more < 4_000, "plain \(plain.memoryPeak - plain.memoryStart), sealed \(opened.memoryPeak) KB")
    }
}
