import Foundation
import TestSupport
import Testing

/// What the extension displays, over RichPushExtension, on a simulated device.
struct DeviceDeliveryTests {
    private let server: LoopbackServer
    private let device: SimulatedDevice

    init() throws {
        device = try SimulatedDevice.shared
        server = try LoopbackServer()
        server.serve("/cat.jpg", .body(DeviceFile.image, type: "image/jpeg"))
        server.serve("/small.jpg", .body(DeviceFile.thumbnail, type: "image/jpeg"))
    }

    @Test func `The first attachment is displayed with its options, and the others are not fetched`() async throws {
        let digest = try DeviceFile.sha256(DeviceFile.image)
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

    @Test func `An attachment with a hidden thumbnail is combined with the next one with a visible one`() async throws {
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

    @Test func `An attachment with a hidden thumbnail is displayed alone when its companion fails`() async throws {
        let shown = try await device.run(
            DevicePayload(attachments: [
                DevicePayload.attachment(server.url("/cat.jpg"), options: #", "thumbnailHidden": true"#),
                DevicePayload.attachment(server.url("/missing.jpg"), id: "1"),
            ]).text)
        #expect(shown.attachments.map(\.identifier) == ["0"])
    }

    @Test func `A movie's thumbnail time is passed on as a CMTime`() async throws {
        server.serve("/cat.mp4", .body(DeviceFile.image, type: "video/mp4"))
        let time = #", "thumbnailTime": {"value": 1800, "timescale": 600, "epoch": 0, "flags": 1}"#
        let movie = DevicePayload.attachment(server.url("/cat.mp4"), type: "public.mpeg-4", options: time)
        let shown = try await device.run(DevicePayload(attachments: [movie]).text)
        #expect(
            shown.attachments.first?.options.thumbnailTime
                == ["value": "1800", "timescale": "600", "epoch": "0", "flags": "1"])
    }

    @Test func `A payload without media is displayed unchanged`() async throws {
        let shown = try await device.run(#"{"aps": {"alert": "Hello", "mutable-content": 1}}"#)
        #expect(shown.handedOver == 1 && shown.attachments.isEmpty && shown.body == "Hello")
        #expect(server.requests.isEmpty)
    }

    @Test func `A file with a wrong digest is replaced by the next attachment`() async throws {
        let wrong = String(repeating: "0", count: 64)
        let shown = try await device.run(
            DevicePayload(attachments: [
                DevicePayload.attachment(server.url("/cat.jpg"), id: "first", sha256: wrong),
                DevicePayload.attachment(server.url("/small.jpg"), id: "second"),
            ]).text)
        #expect(shown.attachments.map(\.identifier) == ["second"])
        #expect(shown.left.isEmpty)
    }

    @Test(arguments: HostileResponse.allCases)
    func `The thumbnail replaces an attachment that cannot be fetched`(hostile: HostileResponse) async throws {
        server.serve("/cat.jpg", hostile.response(on: server))
        let shown = try await device.run(
            DevicePayload(attachments: [
                DevicePayload.attachment(
                    server.url("/cat.jpg"), bytes: hostile.declaredBytes, thumbnail: server.url("/small.jpg"))
            ]).text, ["--timeout", "3"])
        #expect(shown.handedOver == 1)
        #expect(shown.attachments.map(\.file) == ["thumbnail.jpg"])
        #expect(shown.left.isEmpty)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A redirect is followed, and a repeated URL is fetched once`() async throws {
        server.serve("/moved.jpg", .redirect(server.url("/cat.jpg")))
        let moved = DevicePayload.attachment(server.url("/moved.jpg"))
        let shown = try await device.run(DevicePayload(attachments: [moved, moved]).text)
        #expect(shown.attachments.map(\.bytes) == [20_000])
        #expect(server.requests.map(\.path) == ["/moved.jpg", "/cat.jpg"])
    }

    @Test func `Without a declared type, the suggested file name decides the type but not the path`()
        async throws
    {
        let name = #"attachment; filename="../../../tmp/evil.png""#
        server.serve("/anything", .body(DeviceFile.image, headers: ["Content-Disposition": name]))
        let shown = try await device.run(
            #"{"attachprep": {"attachments": [{"url": "\#(server.url("/anything"))"}]}}"#)
        #expect(shown.attachments.map(\.file) == ["attachment.png"])
        #expect(shown.attachments.map(\.uti) == ["public.png"])
    }

    @Test func `Without a declared type and file name, the first bytes decide the type`() async throws {
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

    @Test(arguments: [("grid.heic", "public.heic"), ("clock.mov", "com.apple.quicktime-movie")])
    func `What iOS takes without documenting it is attached from a payload that was not prepared`(
        sample: String, uti: String
    ) async throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample(sample)))
        server.serve("/\(sample)", .body(data))
        let shown = try await device.run(#"{"aps": {"alert": "Hi"}, "attach": "\#(server.url("/\(sample)"))"}"#)
        #expect(shown.attachments.map(\.uti) == [uti])
    }

    @Test func `A bundle file is copied, not moved`() async throws {
        let bundle = try TemporaryFolder()
        try bundle.write(Array(DeviceFile.image), to: "cat.gif")
        let payload = #"{"attachprep": {"attachments": [{"id": "own", "file": "cat.gif"}]}}"#
        let shown = try await device.run(payload, ["--bundle", bundle.path])
        #expect(shown.attachments.map(\.uti) == ["com.compuserve.gif"])
        #expect(try bundle.contents() == ["cat.gif"])
        #expect(shown.left.isEmpty)
    }
}

/// Responses that are not the expected file.
enum HostileResponse: CaseIterable {
    case missing, partial, page, empty, cutShort, tooShort, tooLong, tooLarge, silent, slow, drip, endlessRedirects,
        reset

    /// The length that the payload declares.
    var declaredBytes: Int? { self == .tooLarge ? nil : 20_000 }

    func response(on server: LoopbackServer) -> LoopbackResponse {
        let image = DeviceFile.image
        return switch self {
        case .missing: .status(404)
        case .partial: .status(206, ["Content-Range": "bytes 0-19999/40000"], image)
        case .page: .body(image, type: "text/html; charset=utf-8")
        case .empty: .body(Data(), type: "image/jpeg")
        case .cutShort: .start(of: image, bytes: 10_000).then(.close)
        case .tooShort: .body(image.dropLast(), type: "image/jpeg")
        // Neither ends by itself: the device must detect the excess by the declared length or the bytes received.
        case .tooLong: .start(of: image, bytes: 10_000, declaring: 20_001).then(.hang)
        case .tooLarge: .lines("Content-Type: image/jpeg").then(.send(Data(count: 10_000_001)), .hang)
        case .silent: LoopbackResponse([.hang])
        case .slow: .start(of: image, bytes: 10_000).then(.hang)
        case .drip: .start(of: image, bytes: 0).then(.drip(image, pauseMilliseconds: 20))
        case .endlessRedirects: .redirect(server.url("/cat.jpg"))
        case .reset: .start(of: image, bytes: 100).then(.reset)
        }
    }
}
