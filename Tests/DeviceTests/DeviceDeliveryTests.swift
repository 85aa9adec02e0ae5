import Foundation
import TestSupport
import Testing

/// What the sample extension shows, with RichPush behind it, on a device that is a program.
struct DeviceDeliveryTests {
    private let server: LoopbackServer
    private let device: BuiltDevice

    init() throws {
        device = try BuiltDevice.shared
        server = try LoopbackServer()
        server.serve("/cat.jpg", .body(DeviceFile.picture, type: "image/jpeg"))
        server.serve("/small.jpg", .body(DeviceFile.thumbnail, type: "image/jpeg"))
    }

    @Test func `The first attachment is shown, with its options, and the others are not fetched`() async throws {
        let digest = try DeviceFile.sha256(DeviceFile.picture)
        let options =
            #", "thumbnailHidden": false, "thumbnailClippingRect": {"X": 0, "Y": 0.5, "Width": 1, "Height": 0.5}"#
        let shown = try await device.run(
            DevicePayload(attachments: [
                DevicePayload.attachment(
                    server.url("/cat.jpg"), bytes: 20_000, sha256: digest, options: options,
                    thumbnail: server.url("/small.jpg")),
                DevicePayload.attachment(server.url("/other.jpg"), id: "1"),
            ]).text)
        let attachment = try #require(shown.attachments.first)
        #expect(shown.handedOver == 1 && shown.attachments.count == 1)
        #expect(shown.title == "Cats" && shown.body == "A new one")
        #expect(attachment.identifier == "0" && attachment.file == "attachment.jpg" && attachment.uti == "public.jpeg")
        #expect(attachment.sha256 == digest)
        #expect(attachment.options.thumbnailHidden == false)
        #expect(attachment.options.thumbnailClippingRect == ["X": 0, "Y": 0.5, "Width": 1, "Height": 0.5])
        #expect(shown.left.isEmpty)
        #expect(server.requests.map(\.path) == ["/cat.jpg"])
    }

    @Test func `An attachment that hides its thumbnail goes together with the one that shows its own`() async throws {
        let hidden = #", "thumbnailHidden": true"#
        let shown = try await device.run(
            DevicePayload(attachments: [
                DevicePayload.attachment(server.url("/cat.jpg"), id: "expanded", options: hidden),
                DevicePayload.attachment(server.url("/other.jpg"), id: "also hidden", options: hidden),
                DevicePayload.attachment(server.url("/small.jpg"), id: "collapsed"),
            ]).text)
        #expect(shown.attachments.map(\.identifier) == ["expanded", "collapsed"])
        #expect(shown.left.isEmpty)
    }

    @Test func `It goes alone when the other does not come`() async throws {
        let shown = try await device.run(
            DevicePayload(attachments: [
                DevicePayload.attachment(server.url("/cat.jpg"), options: #", "thumbnailHidden": true"#),
                DevicePayload.attachment(server.url("/missing.jpg"), id: "1"),
            ]).text)
        #expect(shown.attachments.map(\.identifier) == ["0"])
    }

    @Test func `A movie's time goes along as a CMTime`() async throws {
        server.serve("/cat.mp4", .body(DeviceFile.picture, type: "video/mp4"))
        let time = #", "thumbnailTime": {"value": 1800, "timescale": 600, "epoch": 0, "flags": 1}"#
        let movie = DevicePayload.attachment(server.url("/cat.mp4"), type: "public.mpeg-4", options: time)
        let shown = try await device.run(DevicePayload(attachments: [movie]).text)
        #expect(
            shown.attachments.first?.options.thumbnailTime
                == ["value": "1800", "timescale": "600", "epoch": "0", "flags": "1"])
    }

    @Test func `A payload without media is handed over as it is`() async throws {
        let shown = try await device.run(#"{"aps": {"alert": "Hello", "mutable-content": 1}}"#)
        #expect(shown.handedOver == 1 && shown.attachments.isEmpty && shown.body == "Hello")
        #expect(server.requests.isEmpty)
    }

    @Test func `What is not the file that was prepared gives way to the next attachment`() async throws {
        let wrong = String(repeating: "0", count: 64)
        let shown = try await device.run(
            DevicePayload(attachments: [
                DevicePayload.attachment(server.url("/cat.jpg"), id: "first", sha256: wrong),
                DevicePayload.attachment(server.url("/small.jpg"), id: "second"),
            ]).text)
        #expect(shown.attachments.map(\.identifier) == ["second"])
        #expect(shown.left.isEmpty)
    }

    @Test(arguments: HostileFile.allCases)
    func `The thumbnail stands in for what does not arrive`(file: HostileFile) async throws {
        server.serve("/cat.jpg", file.answer(on: server))
        let shown = try await device.run(
            DevicePayload(attachments: [
                DevicePayload.attachment(
                    server.url("/cat.jpg"), bytes: file.declaredBytes, thumbnail: server.url("/small.jpg"))
            ]).text, ["--deadline", "3"])
        #expect(shown.handedOver == 1)
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
        #expect(shown.left.isEmpty)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A redirect is followed, and nothing is fetched twice`() async throws {
        server.serve("/moved.jpg", .redirect(server.url("/cat.jpg")))
        let moved = DevicePayload.attachment(server.url("/moved.jpg"))
        let shown = try await device.run(DevicePayload(attachments: [moved, moved]).text)
        #expect(shown.attachments.map(\.bytes) == [20_000])
        #expect(server.requests.map(\.path) == ["/moved.jpg", "/cat.jpg"])
    }

    @Test func `The name comes from the answer when the payload says nothing of the type, and leads nowhere`()
        async throws
    {
        let name = #"attachment; filename="../../../tmp/evil.png""#
        server.serve("/anything", .body(DeviceFile.picture, headers: ["Content-Disposition": name]))
        let shown = try await device.run(
            #"{"attachprep": {"attachments": [{"url": "\#(server.url("/anything"))"}]}}"#)
        #expect(shown.attachments.map(\.file) == ["attachment.png"])
        #expect(shown.attachments.map(\.uti) == ["public.png"])
    }

    @Test func `When nobody says what a file is, its first bytes do`() async throws {
        let gif = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample("counter.gif")))
        server.serve("/anything", .body(gif))
        let shown = try await device.run(#"{"aps": {"alert": "Hi"}, "attach": "\#(server.url("/anything"))"}"#)
        #expect(shown.attachments.map(\.file) == ["attachment.gif"])
    }

    @Test(arguments: ["attach", "podcast-image", "imageUrl"])
    func `A payload that was not prepared is read in its own dialect`(key: String) async throws {
        let shown = try await device.run(
            #"{"aps": {"alert": "Hi", "mutable-content": "1"}, "\#(key)": "\#(server.url("/cat.jpg"))"}"#)
        #expect(shown.attachments.map(\.file) == ["attachment.jpg"])
        #expect(shown.body == "Hi")
    }

    @Test func `A file that the app brings along is copied, not moved`() async throws {
        let bundle = try TemporaryFolder()
        try bundle.write(Array(DeviceFile.picture), to: "cat.gif")
        let payload = #"{"attachprep": {"attachments": [{"id": "own", "file": "cat.gif"}]}}"#
        let shown = try await device.run(payload, ["--bundle", bundle.path])
        #expect(shown.attachments.map(\.uti) == ["com.compuserve.gif"])
        #expect(try bundle.contents() == ["cat.gif"])
        #expect(shown.left.isEmpty)
    }
}

/// Answers that are not the file.
enum HostileFile: CaseIterable {
    case missing, partial, page, empty, cutShort, tooShort, tooLong, tooLarge, silent, slow, drip, endlessRedirects,
        reset

    /// What the payload says of the file.
    var declaredBytes: Int? { self == .tooLarge ? nil : 20_000 }

    func answer(on server: LoopbackServer) -> LoopbackAnswer {
        let picture = DeviceFile.picture
        return switch self {
        case .missing: .status(404)
        case .partial: .status(206, ["Content-Range": "bytes 0-19999/40000"], picture)
        case .page: .body(picture, type: "text/html; charset=utf-8")
        case .empty: .body(Data(), type: "image/jpeg")
        case .cutShort: .start(of: picture, bytes: 10_000).then(.close)
        case .tooShort: .body(picture.dropLast(), type: "image/jpeg")
        // Neither ends by itself: the device has to see by the first bytes that there is too much.
        case .tooLong: .start(of: picture, bytes: 10_000, declaring: 20_001).then(.hang)
        case .tooLarge: .lines("Content-Type: image/jpeg").then(.send(Data(count: 10_000_001)), .hang)
        case .silent: LoopbackAnswer([.hang])
        case .slow: .start(of: picture, bytes: 10_000).then(.hang)
        case .drip: .start(of: picture, bytes: 0).then(.drip(picture, pauseMilliseconds: 20))
        case .endlessRedirects: .redirect(server.url("/cat.jpg"))
        case .reset: .start(of: picture, bytes: 100).then(.reset)
        }
    }
}
