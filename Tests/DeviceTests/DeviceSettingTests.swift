import Foundation
import TestSupport
import Testing

/// The settings of the Info.plist change what is fetched and shown.
struct DeviceSettingTests {
    private let server: LoopbackServer
    private let device: SimulatedDevice

    init() throws {
        device = try SimulatedDevice.shared
        server = try LoopbackServer()
        server.serve("/cat.jpg", .body(DeviceFile.image, type: "image/jpeg"))
        server.serve("/small.jpg", .body(DeviceFile.thumbnail, type: "image/jpeg"))
    }

    @Test func `Media at the app's own key is shown, before that of a push service`() async throws {
        let payload = """
            {"aps": {"alert": "Hi"}, "imageUrl": "\(server.url("/cat.jpg"))",
             "teaser": {"photos": [{"src": "\(server.url("/small.jpg"))"}]}}
            """
        let shown = try await device.run(payload, ["--info", #"{"MediaKeys": ["other", "teaser.photos[].src"]}"#])
        #expect(shown.attachments.map(\.bytes) == [DeviceFile.thumbnail.count])
        #expect(try await device.run(payload).attachments.map(\.bytes) == [20_000])
    }

    @Test(arguments: [("de-AT,en", "/de"), ("fr-CA,en-GB", "/en-GB"), ("ja", "/default")])
    func `Media per language is shown in the user's language`(languages: String, path: String) async throws {
        for name in ["/de", "/en-GB", "/default"] {
            server.serve(name, .body(DeviceFile.image, type: "image/jpeg"))
        }
        let payload = """
            {"aps": {"alert": "Hi"}, "photo": {"de": "\(server.url("/de"))", "default": "\(server.url("/default"))",
             "en-GB": {"url": "\(server.url("/en-GB"))"}}}
            """
        let shown = try await device.run(payload, ["--info", #"{"MediaKeys": ["photo"]}"#, "--languages", languages])
        #expect(shown.attachments.count == 1)
        #expect(server.requests.map(\.path) == [path])
    }

    @Test func `The kind that the app prefers is tried first`() async throws {
        server.serve("/cat.mp4", .body(DeviceFile.image, type: "video/mp4"))
        let payload = DevicePayload(attachments: [
            DevicePayload.attachment(server.url("/cat.mp4"), type: "public.mpeg-4", id: "movie"),
            DevicePayload.attachment(server.url("/cat.jpg"), id: "image"),
        ]).text
        #expect(try await device.run(payload).attachments.map(\.identifier) == ["movie"])
        let shown = try await device.run(payload, ["--info", #"{"KindPriorities": ["audio", "image"]}"#])
        #expect(shown.attachments.map(\.identifier) == ["image"])
    }

    @Test func `All attachments of a carousel that arrive are delivered when the app asks for them`() async throws {
        let names = ["/1.jpg", "/missing.jpg", "/3.jpg"]
        for name in names where name != "/missing.jpg" {
            server.serve(name, .body(DeviceFile.image, type: "image/jpeg"))
        }
        let payload = DevicePayload(
            attachments: names.map {
                DevicePayload.attachment(server.url($0), id: $0, thumbnail: server.url("/small.jpg"))
            }
        ).text
        let all = try await device.run(payload, ["--info", #"{"AttachesAll": true}"#])
        #expect(all.attachments.map(\.identifier) == ["/1.jpg", "/3.jpg"])
        #expect(all.handedOver == 1 && all.left.isEmpty)
        #expect(try await device.run(payload).attachments.map(\.identifier) == ["/1.jpg"])
    }

    @Test func `What arrived of a carousel is shown at the timeout`() async throws {
        server.serve("/slow.jpg", .start(of: DeviceFile.image, bytes: 10_000).then(.hang))
        let payload = DevicePayload(
            attachments: ["/cat.jpg", "/slow.jpg", "/small.jpg"].map {
                DevicePayload.attachment(server.url($0), id: $0)
            }
        ).text
        let info = #"{"AttachesAll": true, "TimeoutSeconds": 2}"#
        let shown = try await device.run(payload, ["--info", info])
        #expect(shown.attachments.map(\.identifier).first == "/cat.jpg" && shown.handedOver == 1)
        #expect(shown.left.isEmpty)
    }

    @Test func `A fallback is not delivered beside its media`() async throws {
        let media = #"{"url": "\#(server.url("/cat.jpg"))", "fallback_url": "\#(server.url("/small.jpg"))"}"#
        let payload = #"{"aps": {"alert": "Hi"}, "_sw": {"media": \#(media)}}"#
        let shown = try await device.run(payload, ["--info", #"{"AttachesAll": true}"#])
        #expect(shown.attachments.map(\.bytes) == [20_000])
        #expect(server.requests(to: "/small.jpg").isEmpty)
    }

    @Test func `The timeout of the Info.plist ends a slow download`() async throws {
        server.serve("/slow.jpg", .start(of: DeviceFile.image, bytes: 10_000).then(.hang))
        let payload = DevicePayload(attachments: [DevicePayload.attachment(server.url("/slow.jpg"))]).text
        let shown = try await device.run(payload, ["--info", #"{"TimeoutSeconds": 2}"#])
        #expect(shown.handedOver == 1 && shown.seconds < 5)
    }

    @Test func `Values of another type are ignored`() async throws {
        let info = #"{"TimeoutSeconds": "soon", "KindPriorities": 3, "MediaKeys": {"a": 1}, "AppGroup": []}"#
        let payload = DevicePayload(attachments: [DevicePayload.attachment(server.url("/cat.jpg"))]).text
        #expect(try await device.run(payload, ["--info", info]).attachments.count == 1)
    }

    @Test func `The sample's class shows an attachment with the settings that it has`() async throws {
        let image = server.url("/cat.jpg")
        let guest = #"{"aps": {"alert": {"title": "Podcast"}}, "podcast-guest": "Ann", "imageUrl": "\#(image)"}"#
        let shown = try await device.run(guest, ["--sample"])
        #expect(shown.attachments.map(\.bytes) == [20_000] && shown.title == "New episode with Ann")
    }
}
