import Foundation
import PushPayload
import RichPush
import Testing

/// The neutral object, which every app can read whatever its push service.
struct NeutralObjectTests {
    private let jpeg = "https://push.example/a/attachment.jpg"

    @Test func `The neutral object can be omitted`() throws {
        let written = try RewrittenPayload(
            #"{"aps":{"alert":"a"},"attach":"https://c/a","attachprep":{"attachments":[]}}"#, [PreparedSample.ready()],
            addsNeutralObject: false)
        #expect(written.text == #"{"aps":{"alert":"a"},"attach":"https://push.example/a/attachment.jpg"}"#)
    }

    @Test func `In an envelope, the neutral object is written into the APNs payload`() throws {
        let sns = try RewrittenPayload(
            #"{"default":"x","APNS":"{\"aps\":{},\"attach\":\"https://c/a\"}"}"#, [PreparedSample.ready()])
        let inner = try PayloadValue(json: Array(try #require(try sns.value["APNS"]?.string).utf8))
        #expect(inner.members?.map(\.key) == ["aps", "attach", "attachprep"])
        #expect(try sns.value.members?.map(\.key) == ["default", "APNS"])
    }

    @Test func `A push service's API request has no neutral object`() throws {
        let written = try RewrittenPayload(
            #"{"to":"x","richContent":{"image":"https://c/a"}}"#, [PreparedSample.ready()])
        #expect(written.text == #"{"to":"x","richContent":{"image":"\#(jpeg)"}}"#)
        #expect(written.warnings.map(\.code) == [.partDropped])
    }

    @Test func `An outdated neutral object is removed when there is no new one`() throws {
        #expect(
            try RewrittenPayload(
                #"{"attachment":{"url":"/api/camera"},"attachprep":{"attachments":[]},"z":1}"#,
                dialect: "home-assistant", [.untouched]
            ).text == #"{"attachment":{"url":"/api/camera"},"z":1}"#)
    }

    @Test func `A device reads the neutral object as it was written`() throws {
        var manifest = PreparedSample.manifest(.mpeg4, thumbnail: true) {
            $0.thumbnailTime = .movie(MovieTime(seconds: 3))
            $0.thumbnailHidden = false
        }
        manifest.options?.thumbnailClippingRect = try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        let written = try RewrittenPayload(
            #"{"os_data":{"att":{"one":"https://c/a","two":"file.png"}}}"#, [.ready(manifest), .untouched],
            receipt: receipt)
        let document = try PayloadDocument(Array(written.text.utf8))
        let media = try PayloadReader.media(
            in: try PayloadDocument(Array(#"{"os_data":{"att":{"one":"https://c/a","two":"file.png"}}}"#.utf8)).value)
        let content = PushContent(media: media, prepared: [.ready(manifest), .untouched], receipt: receipt)
        struct Payload: Decodable { let attachprep: PushContent }
        let read = try JSONDecoder().decode(Payload.self, from: Data(document.bytes))
        #expect(read.attachprep == content)
        #expect(content.attachments.map(\.id) == ["one", "two"])
        #expect(content.attachments[0].options?.thumbnailHidden == nil)
        #expect(content.attachments[0].thumbnail?.bytes == 9_120)
        #expect(written.text.contains(#""thumbnailClippingRect":{"X":0.25,"Y":0,"Width":0.5,"Height":1}"#))
        #expect(written.text.contains(#""thumbnailTime":{"value":1800,"timescale":600,"epoch":0,"flags":1}"#))
    }

    @Test(arguments: [(180_000, true), (179_999, false)])
    func `A smaller rendition is offered when it has at most half of the bytes`(bytes: Int, isOffered: Bool) throws {
        let manifest = PreparedSample.manifest(.mpeg4, bytes: bytes, renditions: [MediaTarget.smallerKey])
        let written = try RewrittenPayload(#"{"attach":"https://c/a"}"#, [.ready(manifest)])
        let smaller = try written.value["attachprep"]?["attachments"]?[0]?["smaller"]
        #expect(smaller?["url"]?.string == (isOffered ? "https://push.example/a/iosSmall.jpg" : nil))
        #expect(smaller?["bytes"]?.double == (isOffered ? 90_000 : nil))
    }

    @Test func `The sender's picture is that of the payload, or else that of the request`() throws {
        let manifest = PreparedSample.manifest(renditions: ["avatar"])
        let request = try RewrittenPayload(
            #"{"attach":"https://c/a"}"#, [.ready(manifest)], targets: [.ios, .avatar])
        #expect(try request.value["attachprep"]?["avatar"]?["url"]?.string == "https://push.example/a/avatar.jpg")
        let own = try RewrittenPayload(
            #"{"attach":"https://c/a","sender":{"avatar":"https://c/b"}}"#, [.ready(manifest)],
            others: [.ready(PreparedSample.manifest(at: "b", renditions: ["avatar"]))], targets: [.ios, .avatar])
        #expect(try own.value["attachprep"]?["avatar"]?["url"]?.string == "https://push.example/b/avatar.jpg")
        #expect(try own.value["sender"]?["avatar"]?.string == "https://push.example/b/avatar.jpg")
    }

    @Test func `A URL used several times appears once`() throws {
        let written = try RewrittenPayload(
            #"{"att":{"one":"https://c/a","two":"https://c/a"}}"#, [PreparedSample.ready(), PreparedSample.ready()])
        #expect(try written.value["attachprep"]?["attachments"]?.elements?.map { $0["id"]?.string } == ["one"])
    }

    @Test func `An API's media form inside an APNs payload gets a neutral object`() throws {
        let written = try RewrittenPayload(
            #"{"aps":{},"media":{"url":"https://c/a","type":"image"}}"#, [PreparedSample.ready()])
        #expect(try written.value.members?.map(\.key) == ["aps", "media", "attachprep"])
    }

    @Test func `Attachments get unique IDs`() throws {
        let written = try RewrittenPayload(
            #"{"_wp":{"attachments":[{"url":"https://c/a","id":"1"},{"url":"https://c/b"},"#
                + #"{"url":"https://c/c","id":"1"}]}}"#,
            [PreparedSample.ready(at: "a"), PreparedSample.ready(at: "b"), PreparedSample.ready(at: "c")])
        let attachments = try #require(try written.value["attachprep"]?["attachments"]?.elements)
        #expect(attachments.map { $0["id"]?.string } == ["1", "1-2", "1-3"])
    }

    @Test func `A thumbnail that is the attachment itself is not fetched twice`() throws {
        var manifest = PreparedSample.manifest(thumbnail: true)
        let sha256 = manifest.attachment?.sha256 ?? ""
        manifest.thumbnail?.sha256 = sha256
        let written = try RewrittenPayload(#"{"attach":"https://c/a"}"#, [.ready(manifest)])
        #expect(try written.value["attachprep"]?["attachments"]?[0]?["thumbnail"] == nil)
    }
}
