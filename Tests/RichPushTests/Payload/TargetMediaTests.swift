import RichPush
import Testing

/// Media of systems other than iOS, and avatars.
struct TargetMediaTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let payload: String
        let dialect: String
        /// The paths for iOS.
        let items: [String]
        /// The paths for other systems, each after `android`, `web`, `webIcon`, `webBadge` or `avatar`.
        let others: [String]

        var testDescription: String { "\(dialect): \(others)" }
    }

    static let rows: [Row] = [
        Row(
            payload: #"{"message":{"token":"t","notification":{"title":"t","image":"https://c.example/a.gif"}}}"#,
            dialect: "fcm", items: ["message.notification.image"], others: []),
        // kreait/firebase-php: CloudMessage and Notification, as JSON.
        Row(
            payload: #"{"topic":"t","notification":{"title":"t","image":"https://c.example/a.gif"}}"#,
            dialect: "fcm", items: ["notification.image"], others: []),
        Row(
            payload: #"{"message":{"notification":{"image":"https://c.example/a"},"apns":{"fcm_options":"#
                + #"{"image":"https://c.example/b"}},"android":{"notification":{"image":"https://c.example/c"}},"#
                + #""webpush":{"headers":{"image":"https://c.example/d"},"notification":{"image":"#
                + #""https://c.example/e","icon":"https://c.example/f","badge":"https://c.example/g"}}}}"#,
            dialect: "fcm", items: ["message.apns.fcm_options.image"],
            others: [
                "android message.notification.image", "android message.android.notification.image",
                "web message.webpush.notification.image", "webIcon message.webpush.notification.icon",
                "webBadge message.webpush.notification.badge", "web message.webpush.headers.image",
            ]),
        // firebase.google.com/docs/cloud-messaging/android/send-image, Node.
        Row(
            payload: #"{"notification":{"title":"t"},"android":{"notification":{"imageUrl":"https://c.example/a.png"}"#
                + #"},"apns":{"payload":{"aps":{"mutable-content":1}},"fcm_options":{"image":"#
                + #""https://c.example/a.png"}},"webpush":{"headers":{"image":"https://c.example/a.png"}},"#
                + #""topic":"t"}"#,
            dialect: "fcm", items: ["apns.fcm_options.image"],
            others: ["web webpush.headers.image", "android android.notification.imageUrl"]),
        Row(
            payload: #"{"tokens":["t"],"notification":{"imageUrl":"https://c.example/a.png"},"android":"#
                + #"{"notification":{"imageUrl":"https://c.example/b.png"}}}"#,
            dialect: "firebase-admin", items: ["notification.imageUrl"],
            others: ["android android.notification.imageUrl"]),
        // Media of another dialect inside an FCM message.
        Row(
            payload: #"{"message":{"android":{"notification":{"image":"https://c.example/a.png"}},"apns":{"payload":"#
                + #"{"aps":{"alert":"x"},"ct_mediaUrl":"https://c.example/b.png","ct_mediaType":"image"}}}}"#,
            dialect: "clevertap", items: ["message.apns.payload.ct_mediaUrl"],
            others: ["android message.android.notification.image"]),
        Row(
            payload: #"{"app_id":"a","ios_attachments":{"id":"https://c.example/a"},"big_picture":"#
                + #""https://c.example/a","chrome_web_image":"https://c.example/a","#
                + #""chrome_web_icon":"https://c.example/b"}"#,
            dialect: "onesignal", items: ["ios_attachments.id"],
            others: ["android big_picture", "web chrome_web_image", "webIcon chrome_web_icon"]),
        // docs.airship.com, API, Android override.
        Row(
            payload: #"{"audience":"all","device_types":"all","notification":{"ios":{"media_attachment":{"url":"#
                + #""https://c.example/a"}},"android":{"style":{"type":"big_picture","big_picture":"#
                + #""https://c.example/b"}},"web":{"icon":{"url":"https://c.example/c"}}}}"#,
            dialect: "airship", items: ["notification.ios.media_attachment.url"],
            others: [
                "android notification.android.style.big_picture", "webIcon notification.web.icon.url",
            ]),
        // braze.com/docs/api/objects_filters/messaging.
        Row(
            payload: #"{"broadcast":true,"messages":{"apple_push":{"alert":"x","asset_url":"https://c.example/a.jpg","#
                + #""asset_file_type":"jpg"},"android_push":{"alert":"x","title":"t","extra":{"appboy_image_url":"#
                + #""https://c.example/b"}},"web_push":{"alert":"x","title":"t","image_url":"https://c.example/c","#
                + #""large_image_url":"https://c.example/d"}}}"#,
            dialect: "braze", items: ["messages.apple_push.asset_url"],
            others: [
                "android messages.android_push.extra.appboy_image_url", "web messages.web_push.large_image_url",
                "webIcon messages.web_push.image_url",
            ]),
        // Finb/bark-server, docs/API_V2.md.
        Row(
            payload: #"{"title":"t","body":"b","device_key":"k","icon":"https://c.example/i.png","#
                + #""image":"https://c.example/a.png"}"#,
            dialect: "bark", items: ["image"], others: ["avatar icon"]),
        Row(
            payload: #"{"aps":{"alert":"x"},"attach":"https://c.example/a.jpg","#
                + #""sender":{"avatar":"https://c.example/b"}}"#,
            dialect: "attach", items: ["attach"], others: ["avatar sender.avatar"]),
        // sendbird.com/docs: `sendbird.sender.profile_url`.
        Row(
            payload: #"{"aps":{"alert":"x"},"image":"https://c.example/a.jpg","sendbird":{"sender":{"profile_url":"#
                + #""https://c.example/b"}}}"#,
            dialect: "generic", items: ["image"], others: ["avatar sendbird.sender.profile_url"]),
        Row(
            payload: #"{"message":"m","data":{"image":"https://c.example/a.jpg"}}"#, dialect: "home-assistant-action",
            items: ["data.image"], others: []),
        Row(
            payload: #"{"aps":{"alert":{"title":"x","attachment-url":"https://c.example/a.jpg"}}}"#,
            dialect: "izooto", items: ["aps.alert.attachment-url"], others: []),
        Row(
            payload: #"{"aps":{"timestamp":1,"event":"update","content-state":{"driver":"#
                + #"{"photo":"https://c.example/a"},"site":"https://c.example","map":"https://c.example/b.png"},"#
                + #""attributes":{"logo":"https://c.example/c.png"}}}"#,
            dialect: "live-activity",
            items: ["aps.content-state.driver.photo", "aps.content-state.map", "aps.attributes.logo"], others: []),
    ]

    @Test(arguments: rows) func `The media of each system is found at its own keys`(row: Row) throws {
        let media = try PayloadReader.media(in: payload(row.payload))
        #expect(media.dialect.name == row.dialect)
        #expect(media.items.map(\.path.description) == row.items)
        #expect(media.otherItems.map(Self.name) == row.others)
    }

    static let webPush: [(String, String, [String])] = [
        (
            #"{"title":"t","body":"b","icon":"https://c.example/i.png","image":"https://c.example/a.jpg","#
                + #""badge":"https://c.example/b.png"}"#, "web-push", ["web image", "webIcon icon", "webBadge badge"]
        ),
        (#"{"title":"t","options":{"image":"https://c.example/a.jpg"}}"#, "web-push", ["web options.image"]),
        (
            #"{"web_push":8030,"notification":{"title":"t","navigate":"https://c.example","#
                + #""image":"https://c.example/a"}}"#,
            "declarative-web-push", ["web notification.image"]
        ),
        (
            #"{"notification":{"title":"t","icon":"https://c.example/i.png","image":"https://c.example/a"}}"#,
            "declarative-web-push", ["web notification.image", "webIcon notification.icon"]
        ),
    ]

    @Test(arguments: webPush)
    func `Web push JSON is recognized without naming the target`(
        text: String, dialect: String, found: [String]
    ) throws {
        let media = try PayloadReader.media(in: payload(text))
        #expect(media.dialect.name == dialect && media.items.isEmpty && media.isWebPush)
        #expect(media.otherItems.map(Self.name) == found)
        #expect(media.targets(named: [.ios]) == [.ios, .web])
    }

    @Test func `A message to gorush has an image for Android only, which is prepared without naming it`() throws {
        let text = #"{"notifications":[{"tokens":["t"],"platform":2,"image":"https://c.example/a.jpg"}]}"#
        let media = try PayloadReader.media(in: payload(text))
        #expect(media.dialect.name == "gorush" && media.targets(named: [.ios]).contains(.android))
        #expect(media.otherItems.map(Self.name) == ["android notifications[0].image"])
    }

    @Test func `Media only for a system that is not named is rejected, with the target to name`() throws {
        let text = try payload(#"{"message":{"android":{"notification":{"image":"https://c.example/a.jpg"}}}}"#)
        let error = #expect(throws: PayloadError.self) { try PayloadReader.media(in: text) }
        #expect(error?.code == .payloadNoMedia)
        #expect(error?.message.hasPrefix("Name the targets android to have message.android.notification") == true)
        #expect(try PayloadReader.media(in: text, targets: [.ios, .android]).otherItems.count == 1)
    }

    @Test func `A device reads only the media that iOS shows`() throws {
        let text = #"{"aps":{"alert":"x"},"attach":"https://c.example/a.jpg","avatar":"https://c.example/b.jpg"}"#
        let content = try #require(PushContent(payload: payload(text)))
        #expect(content.attachments.map(\.url) == ["https://c.example/a.jpg"])
    }

    private static func name(_ item: PayloadMediaItem) -> String {
        "\(item.location.target.renditionKey(for: item.location.role) ?? "none") \(item.path)"
    }
}
