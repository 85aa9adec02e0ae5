import AttachPrepModel
import PushPayload
import RichPush
import Testing

struct TargetEditsTests {
    private static let base = "https://push.example/a/"

    private func image(_ payload: PayloadValue, _ keys: String...) -> String? {
        keys.reduce(payload as PayloadValue?) { $0?[$1] }?.string
    }

    private func fcm(_ members: String) -> String {
        #"{"message":{"token":"t","notification":{"title":"x","image":"https://c.example/a"},"#
            + #""apns":{"payload":{"aps":{"mutable-content":1}}}\#(members)}}"#
    }

    @Test func `A GIF in FCM's shared image becomes a still, and iOS gets the GIF at its own key`() throws {
        let prepared = PreparedMedia.ready(PreparedSample.manifest(.gif, renditions: ["android"]))
        let value = try RewrittenPayload(fcm(""), [prepared]).value
        #expect(image(value, "message", "notification", "image") == Self.base + "android.jpg")
        #expect(image(value, "message", "apns", "fcm_options", "image") == Self.base + "attachment.gif")
        #expect(value["message"]?["android"] == nil && value["message"]?["webpush"] == nil)
        #expect(value["message"]?["apns"]?["payload"]?["attachprep"] != nil)
    }

    @Test func `A small still in FCM's shared image stays the only value`() throws {
        let prepared = PreparedMedia.ready(PreparedSample.manifest(.jpeg, renditions: ["android"]))
        let value = try RewrittenPayload(fcm(""), [prepared]).value
        #expect(image(value, "message", "notification", "image") == Self.base + "attachment.jpg")
        #expect(value["message"]?["apns"]?["fcm_options"] == nil)
    }

    @Test(arguments: [(1_048_576, "attachment.jpg"), (1_048_577, "android.jpg")])
    func `A still over 1,048,576 bytes is replaced in FCM's shared image`(bytes: Int, file: String) throws {
        let prepared = PreparedMedia.ready(PreparedSample.manifest(.jpeg, bytes: bytes, renditions: ["android"]))
        let value = try RewrittenPayload(fcm(""), [prepared]).value
        #expect(image(value, "message", "notification", "image") == Self.base + file)
    }

    @Test func `Without Android's picture, the thumbnail is the still`() throws {
        let prepared = PreparedMedia.ready(PreparedSample.manifest(.mpeg4, thumbnail: true))
        let value = try RewrittenPayload(fcm(""), [prepared]).value
        #expect(image(value, "message", "notification", "image") == Self.base + "thumbnail.jpg")
        #expect(image(value, "message", "apns", "fcm_options", "image") == Self.base + "attachment.mp4")
    }

    @Test func `A missing apns block is added for the movie`() throws {
        let payload = #"{"topic":"t","notification":{"title":"x","image":"https://c.example/a"}}"#
        let prepared = PreparedMedia.ready(PreparedSample.manifest(.mpeg4, renditions: ["android"]))
        let text = try RewrittenPayload(payload, [prepared]).text
        #expect(
            text == #"{"topic":"t","notification":{"title":"x","image":"\#(Self.base)android.jpg"},"#
                + #""apns":{"fcm_options":{"image":"\#(Self.base)attachment.mp4"}}}"#)
    }

    @Test func `Named targets get their own fields in an FCM message`() throws {
        let payload =
            #"{"message":{"apns":{"payload":{"aps":{"mutable-content":1}},"fcm_options":{"image":"#
            + #""https://c.example/a"}}}}"#
        let manifest = PreparedSample.manifest(.gif, renditions: ["android", "web", "webIcon"])
        let alone = try RewrittenPayload(payload, [.ready(manifest)]).value
        #expect(alone["message"]?["android"] == nil && alone["message"]?["webpush"] == nil)
        let value = try RewrittenPayload(payload, [.ready(manifest)], targets: [.ios, .android, .web]).value
        #expect(image(value, "message", "apns", "fcm_options", "image") == Self.base + "attachment.gif")
        #expect(image(value, "message", "android", "notification", "image") == Self.base + "android.jpg")
        #expect(image(value, "message", "webpush", "notification", "image") == Self.base + "web.jpg")
        #expect(value["message"]?["webpush"]?["notification"]?["icon"] == nil)
    }

    @Test func `Existing fields of named targets are replaced, and a header that no browser shows too`() throws {
        let payload =
            #"{"message":{"apns":{"fcm_options":{"image":"https://c.example/a"}},"#
            + #""android":{"notification":{"image":"https://c.example/a"}},"#
            + #""webpush":{"headers":{"image":"https://c.example/a"},"notification":{"icon":"https://c.example/i"}}}}"#
        let manifest = PreparedSample.manifest(.jpeg, renditions: ["android", "web"])
        let icon = PreparedSample.manifest(.png, at: "i", renditions: ["webIcon"])
        let written = try RewrittenPayload(
            payload, [.ready(manifest)], others: [.ready(manifest), .ready(icon), .ready(manifest)],
            targets: [.ios, .android, .web])
        let value = try written.value
        #expect(image(value, "message", "android", "notification", "image") == Self.base + "android.jpg")
        #expect(image(value, "message", "webpush", "headers", "image") == Self.base + "web.jpg")
        #expect(image(value, "message", "webpush", "notification", "image") == Self.base + "web.jpg")
        #expect(image(value, "message", "webpush", "notification", "icon") == "https://push.example/i/webIcon.jpg")
    }

    @Test func `A picture that could not be made leaves the value, with a warning`() throws {
        let payload = #"{"ios_attachments":{"a":"https://c.example/a"},"big_picture":"https://c.example/a"}"#
        let written = try RewrittenPayload(
            payload, [PreparedSample.ready()], others: [PreparedSample.ready()], targets: [.ios, .android])
        #expect(try written.value["big_picture"] == .string("https://c.example/a"))
        #expect(written.warnings.map(\.code).contains(.strayMedia))
    }

    @Test func `Undeliverable media of another system is removed with a warning`() throws {
        let payload = #"{"ios_attachments":{"a":"https://c.example/a"},"big_picture":"https://c.example/b"}"#
        let written = try RewrittenPayload(
            payload, [PreparedSample.ready()], others: [PreparedSample.failed], targets: [.ios, .android])
        #expect(try written.value["big_picture"] == nil)
        #expect(written.warnings.contains { $0.code == .mediaRemoved && $0.level == .warning })
    }

    @Test func `OneSignal gets Android's and the browser's keys when they are named`() throws {
        let manifest = PreparedSample.manifest(.mpeg4, renditions: ["android", "web"])
        let value = try RewrittenPayload(
            #"{"ios_attachments":{"a":"https://c.example/a"}}"#, [.ready(manifest)], targets: [.ios, .android, .web]
        ).value
        #expect(image(value, "ios_attachments", "a") == Self.base + "attachment.mp4")
        #expect(image(value, "big_picture") == Self.base + "android.jpg")
        #expect(image(value, "chrome_web_image") == Self.base + "web.jpg")
    }

    @Test func `Home Assistant's shared image is split only when Android is named`() throws {
        let payload = #"{"message":"m","data":{"image":"https://c.example/a"}}"#
        let manifest = PreparedSample.manifest(.gif, renditions: ["android"])
        let alone = try RewrittenPayload(payload, [.ready(manifest)]).value
        #expect(image(alone, "data", "image") == Self.base + "attachment.gif")
        let both = try RewrittenPayload(payload, [.ready(manifest)], targets: [.ios, .android]).value
        #expect(image(both, "data", "image") == Self.base + "android.jpg")
        #expect(image(both, "data", "attachment", "url") == Self.base + "attachment.gif")
    }

    @Test func `Web push JSON is rewritten in place, without another member`() throws {
        let payload = #"{"title":"t", "icon":"https://c.example/i","image":"https://c.example/a","n":1.50}"#
        let picture = PreparedSample.manifest(renditions: ["web"])
        let icon = PreparedSample.manifest(at: "i", renditions: ["webIcon"])
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        let written = try RewrittenPayload(payload, [], others: [.ready(picture), .ready(icon)], receipt: receipt)
        #expect(
            written.text == #"{"title":"t", "icon":"https://push.example/i/webIcon.jpg","#
                + #""image":"\#(Self.base)web.jpg","n":1.50}"#)
        #expect(written.warnings.isEmpty)
    }

    @Test func `A Live Activity keeps its order and dates and gets no other member`() throws {
        let payload =
            #"{"aps":{"timestamp":1790000000,"event":"update","stale-date":1790000600.50,"content-state":"#
            + #"{"b":1,"photo":"https://c.example/a","a":2}}}"#
        let written = try RewrittenPayload(payload, [PreparedSample.ready()])
        #expect(written.text == payload.replacing("https://c.example/a", with: Self.base + "attachment.jpg"))
        let failed = try RewrittenPayload(payload, [PreparedSample.failed])
        #expect(failed.text == payload && failed.warnings.map(\.code) == [.addressNotFetched])
    }

    @Test func `A request to Bark's server gets no other member`() throws {
        let payload = #"{"title":"t","device_key":"k","group":"g","image":"https://c.example/a"}"#
        let written = try RewrittenPayload(payload, [PreparedSample.ready()])
        #expect(written.text == payload.replacing("https://c.example/a", with: Self.base + "attachment.jpg"))
    }

    @Test func `An avatar is replaced at its key when it is named`() throws {
        let payload = #"{"aps":{},"attach":"https://c.example/a","sender":{"avatar":"https://c.example/b"}}"#
        let avatar = PreparedMedia.ready(PreparedSample.manifest(at: "b", renditions: ["avatar"]))
        let value = try RewrittenPayload(
            payload, [PreparedSample.ready()], others: [avatar], targets: [.ios, .avatar]
        ).value
        #expect(image(value, "sender", "avatar") == "https://push.example/b/avatar.jpg")
    }

    // salesforce-marketingcloud/MarketingCloudSDK-iOS, LearningApp: the text replaces the body.
    @Test(arguments: [
        (#""alert":"x""#, #""alert":"A cat""#),
        (#""alert":{"title":"t","body":"x"}"#, #""alert":{"title":"t","body":"A cat"}"#),
        (#""alert":{"title":"t"}"#, #""alert":{"title":"t","body":"A cat"}"#),
    ])
    func `Salesforce's alternative text is shown when the media is removed`(before: String, after: String) throws {
        let payload = #"{"aps":{\#(before)},"_mediaUrl":"https://c.example/a","_mediaAlt":"A cat","z":1}"#
        #expect(try RewrittenPayload(payload, [PreparedSample.failed]).text == #"{"aps":{\#(after)},"z":1}"#)
        let kept = try RewrittenPayload(payload, [PreparedSample.ready()]).text
        #expect(kept.contains(#""_mediaAlt":"A cat""#) && kept.contains(before))
    }

    @Test func `Failed media after the first is a warning, of the first an error`() throws {
        let payload = #"{"aps":{"movie":"https://c.example/a","image":"https://c.example/b"}}"#
        let second = try RewrittenPayload(payload, [PreparedSample.ready(.mpeg4), PreparedSample.failed])
        #expect(second.warnings.map(\.level) == [.warning])
        let first = try RewrittenPayload(payload, [PreparedSample.failed, PreparedSample.ready()])
        #expect(first.warnings.map(\.level) == [.error])
    }

    @Test func `An alert without media gets the receipt only, and mutable-content`() throws {
        let document = try PayloadDocument(Array(#"{"aps":{"alert":"x"},"z":1}"#.utf8))
        let media = try #require(PayloadReader.text(in: document.value))
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        let written = try PayloadWriter.write(document, media: media, prepared: [], receipt: receipt)
        #expect(
            String(decoding: written.bytes, as: UTF8.self)
                == #"{"aps":{"alert":"x","mutable-content":1},"z":1,"attachprep":{"receipt":"#
                + #"{"url":"https://push.example/v1/receipts","token":"t"}}}"#)
        #expect(PayloadReader.text(in: try payload(#"{"aps":{"content-available":1}}"#)) == nil)
    }

    @Test func `FCM's alert without media gets an apns block with the receipt`() throws {
        let document = try PayloadDocument(Array(#"{"message":{"topic":"t","notification":{"title":"x"}}}"#.utf8))
        let media = try #require(PayloadReader.text(in: document.value))
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        let written = try PayloadWriter.write(document, media: media, prepared: [], receipt: receipt)
        #expect(
            String(decoding: written.bytes, as: UTF8.self)
                == #"{"message":{"topic":"t","notification":{"title":"x"},"apns":{"payload":{"aps":"#
                + #"{"mutable-content":1},"attachprep":{"receipt":"#
                + #"{"url":"https://push.example/v1/receipts","token":"t"}}}}}}"#)
    }
}
