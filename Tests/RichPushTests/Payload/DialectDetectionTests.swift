import AttachPrepModel
import RichPush
import Testing

struct DialectDetectionTests {
    @Test func `All media keys inside aps are read: movie, then audio, then image`() throws {
        let items = try found(
            #"{"aps":{"image":"https://c.example/i.jpg","audio":"bell.mp3","movie":"HTTPS://c.example/m.mp4"}}"#)
        #expect(
            items == [
                .url("aps.movie", "HTTPS://c.example/m.mp4"), .file("aps.audio", "bell.mp3"),
                .url("aps.image", "https://c.example/i.jpg"),
            ])
        #expect(try PayloadReader.media(in: payload(#"{"aps":{"image":"a.jpg"}}"#)).dialect.name == "aps-media")
    }

    @Test func `imageUrl inside aps takes precedence over imageUrl outside`() throws {
        let media = try PayloadReader.media(
            in: payload(#"{"imageUrl":"https://c.example/o.jpg","aps":{"imageUrl":"https://c.example/i.jpg"}}"#))
        #expect(media.items.map(\.path.description) == ["aps.imageUrl"])
        #expect(media.warnings.isEmpty)
    }

    @Test func `Airship's urls take precedence over its url`() throws {
        let items = try found(
            #"{"com.urbanairship.media_attachment":{"url":"https://c.example/a.jpg","#
                + #""urls":[{"url":"https://c.example/b.jpg"}]}}"#)
        #expect(items.map(\.path) == ["com.urbanairship.media_attachment.urls[0].url"])
    }

    @Test func `OneSignal's nested attachments take precedence over the flat ones`() throws {
        let items = try found(
            #"{"att":{"a":"https://c.example/a.jpg"},"os_data":{"att":{"b":"https://c.example/b.jpg"}}}"#)
        #expect(items.map(\.path) == ["os_data.att.b"])
    }

    typealias Pair = (payload: String, dialect: String, path: String)

    static let pairs: [Pair] = [
        (#"{"attachment":{"url":"https://c.example/a.jpg"}}"#, "home-assistant", "attachment.url"),
        (#"{"attachment":"https://c.example/a.jpg"}"#, "pushwoosh", "attachment"),
        (#"{"attachments":{"pictureUrl":"https://c.example/a.jpg"}}"#, "kumulos", "attachments.pictureUrl"),
        (#"{"attachments":[{"id":"a","url":"https://c.example/a.jpg"}]}"#, "capacitor", "attachments[0].url"),
        (#"{"attachments":[{"hideThumbnail":true,"url":"https://c.example/a.jpg"}]}"#, "flutter", "attachments[0].url"),
        (#"{"itbl":{"attachment-url":"https://c.example/a.jpg"}}"#, "iterable", "itbl.attachment-url"),
        (#"{"attachment-url":"https://c.example/a.jpg"}"#, "generic", "attachment-url"),
        (#"{"media-attachment-url":"https://c.example/a.jpg"}"#, "adobe-campaign", "media-attachment-url"),
        (#"{"media-attachment-url":"https://c.example/a.jpg","reference-id":"r"}"#, "openhab", "media-attachment-url"),
        (#"{"media-attachment-url":"/rest/items/Cam"}"#, "openhab", "media-attachment-url"),
        (#"{"image_url":"https://c.example/a.jpg"}"#, "generic", "image_url"),
        (#"{"image_url":"https://c.example/a.jpg","notification_type":"x"}"#, "blueshift", "image_url"),
        (#"{"image":"https://c.example/a.jpg"}"#, "generic", "image"),
        // https://github.com/exponea/exponea-ios-sdk: isExponeaNotification
        (#"{"image":"https://c.example/a.jpg","source":"xnpe_platform"}"#, "exponea", "image"),
        (#"{"image":"https://c.example/a.jpg","source":"news"}"#, "generic", "image"),
        (#"{"image":"https://c.example/a.jpg","level":"active"}"#, "bark", "image"),
        (#"{"aps":{"image":"https://c.example/a.jpg"}}"#, "aps-media", "aps.image"),
        // https://github.com/Ometria/ometria.ios_sdk
        (
            #"{"aps":{"alert":{"body":"Hi","ometria":{"imageUrl":"https://c.example/a.jpg"}}}}"#, "ometria",
            "aps.alert.ometria.imageUrl"
        ),
        (#"{"aps":{"imageUrl":"https://c.example/a.jpg"}}"#, "image-url", "aps.imageUrl"),
        (#"{"notification":{"imageUrl":"https://c.example/a.jpg"}}"#, "emarsys", "notification.imageUrl"),
        (#"{"apns":{"fcm_options":{"image":"https://c.example/a.jpg"}}}"#, "fcm", "apns.fcm_options.image"),
        // https://github.com/firebase/firebase-admin-node
        (
            #"{"token":"t","apns":{"payload":{"aps":{}},"fcmOptions":{"imageUrl":"https://c.example/a.jpg"}}}"#,
            "firebase-admin", "apns.fcmOptions.imageUrl"
        ),
        (
            #"{"topic":"t","notification":{"title":"a","imageUrl":"https://c.example/a.jpg"}}"#, "firebase-admin",
            "notification.imageUrl"
        ),
        (#"{"message":{"notification":{"image":"https://c.example/a.jpg"}}}"#, "fcm", "message.notification.image"),
    ]

    @Test(arguments: pairs) func `Services with the same key are distinguished by other members`(pair: Pair) throws {
        let media = try PayloadReader.media(in: payload(pair.payload))
        #expect(media.dialect.name == pair.dialect)
        #expect(media.items.map(\.path.description) == [pair.path])
        #expect(!media.warnings.contains { $0.code == .otherMedia })
    }

    @Test func `A service's own key takes precedence over a common key, with a warning about the other media`() throws {
        let media = try PayloadReader.media(
            in: payload(#"{"attach":"https://c.example/a.jpg","itbl":{"attachment-url":"https://c.example/b.jpg"}}"#))
        #expect(media.dialect.name == "iterable")
        #expect(media.warnings.map(\.code) == [.otherMedia])
        #expect(media.warnings.first?.message.hasPrefix("attach has further media, in the form of attach") == true)
    }

    @Test func `A value that is not a URL does not hide a URL of another dialect`() throws {
        let media = try PayloadReader.media(
            in: payload(#"{"ct_mediaUrl":"soon","attach":"https://c.example/a.jpg"}"#))
        #expect(media.dialect.name == "attach")
    }

    @Test(arguments: [#""""#, "null", #""  ""#, "[]", "{}", "7", "true"])
    func `An empty value does not hide media elsewhere`(empty: String) throws {
        let media = try PayloadReader.media(
            in: payload(#"{"aps":{"movie":\#(empty),"image":"https://c.example/a.jpg"},"attach":\#(empty)}"#))
        #expect(media.items.map(\.path.description) == ["aps.image"])
        #expect(media.warnings.isEmpty)
    }

    @Test func `With a requested dialect, only its keys are read`() throws {
        let both = #"{"attach":"https://c.example/a.jpg","itbl":{"attachment-url":"https://c.example/b.jpg"}}"#
        #expect(try found(both, dialect: "attach").map(\.path) == ["attach"])
        let error = #expect(throws: PayloadError.self) { try found(both, dialect: "fcm") }
        #expect(error?.code == .payloadNoMedia)
        #expect(error?.message.contains("at the keys of fcm (fcm_options.image") == true)
    }

    @Test func `Only the first ten media are read, with a warning`() throws {
        let urls = (1...12).map { #""https://c.example/\#($0).jpg""# }.joined(separator: ",")
        let media = try PayloadReader.media(in: payload(#"{"com.urbanairship.media_attachment":{"url":[\#(urls)]}}"#))
        #expect(media.items.count == Limits.payloadMediaMax)
        #expect(media.items.last?.address == .url("https://c.example/10.jpg"))
        #expect(media.warnings.map(\.code) == [.otherMedia])
    }

    @Test(arguments: [
        (#"{"message":{"apns":{"payload":{"aps":{},"attach":"U"}}}}"#, "message.apns.payload", "attach"),
        (
            #"{"apns":{"payload":{"aps":{},"_wp":{"attachments":[{"url":"U"}]}}}}"#, "apns.payload",
            "_wp.attachments[0].url"
        ),
        // https://pusher.com/docs/beams/reference/publish-api: the APNs payload is `apns`
        (
            #"{"interests":["a"],"apns":{"aps":{},"data":{"attachment-url":"U"}}}"#, "apns", "data.attachment-url"
        ),
        (#"{"APNS":"{\"aps\":{},\"attach\":\"U\"}","default":"Hi"}"#, "APNS", "attach"),
        (#"{"APNS_SANDBOX":"{\"aps\":{},\"attach\":\"U\"}"}"#, "APNS_SANDBOX", "attach"),
    ]) func `A payload nested in an API request is found`(text: String, root: String, path: String) throws {
        let media = try PayloadReader.media(
            in: payload(
                text.replacing("\"U", with: "\"https://c.example/a.jpg")
                    .replacing("\\\"U", with: "\\\"https://c.example/a.jpg")))
        #expect(media.root.description == root)
        #expect(media.items.map(\.path.description) == ["\(root).\(path)"])
    }

    @Test func `The root of an FCM request is its APNs payload`() throws {
        let media = try PayloadReader.media(
            in: payload(
                #"{"message":{"apns":{"payload":{"aps":{}},"fcm_options":{"image":"https://c.example/a.jpg"}}}}"#))
        #expect(media.root.description == "message.apns.payload")
    }

    /// docs.aws.amazon.com/sns: a message for both APNs environments.
    @Test func `The copy for the APNs sandbox is found as well`() throws {
        let inner = #""{\"aps\":{},\"attach\":\"https://c.example/a.jpg\"}""#
        let value = try payload(#"{"APNS":\#(inner),"APNS_SANDBOX":\#(inner)}"#)
        let media = try PayloadReader.media(in: value)
        #expect(media.items.map(\.path.description) == ["APNS.attach"] && media.warnings.isEmpty)
        let sandbox = try #require(PayloadReader.sandboxMedia(besides: media, in: value))
        #expect(sandbox.items.map(\.path.description) == ["APNS_SANDBOX.attach"])
        #expect(sandbox.root.description == "APNS_SANDBOX")
    }

    @Test(arguments: ["{}", #"{"aps":{"alert":"Hi"}}"#, #"{"attach":""}"#])
    func `A payload without media is rejected with remedies`(
        text: String
    ) throws {
        let error = #expect(throws: PayloadError.self) { try found(text) }
        #expect(error?.code == .payloadNoMedia)
        for remedy in ["media key", "dialect", "airship", "wonderpush"] {
            #expect(error?.message.contains(remedy) == true)
        }
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"Hi","attach":"https://c.example/a.jpg"}}"#, "aps.attach"),
        (#"{"data":{"photo":["x","https://c.example/a.mp4?x=1"]},"url":"https://c.example"}"#, "data.photo[1]"),
        (#"{"own":{"gallery":["https://c.example/1"]},"url":"https://c.example"}"#, "own.gallery[]"),
        (#"{"own":"{\"hero_image\":\"https://c.example/1\"}"}"#, "own.hero_image"),
        (#"{"hero_image":"https://c.example/1","own":{"x":"https://c.example/a.png"}}"#, "own.x"),
    ]) func `An unrecognized URL is reported with the media key that reads it`(
        text: String, key: String
    ) throws {
        let error = #expect(throws: PayloadError.self) { try found(text) }
        #expect(error?.message.hasPrefix("Set the media key \(key), where the payload has a URL: ") == true)
        #expect(try PayloadReader.media(in: payload(text), dialect: .custom(mediaKey: key)).items.count == 1)
    }

    /// documentation.onesignal.com: `ios_attachments` is an object.
    @Test func `A URL in place of OneSignal's object of IDs is explained`() throws {
        let error = #expect(throws: PayloadError.self) {
            try found(#"{"app_id":"a","ios_attachments":"https://c.example/a.jpg"}"#)
        }
        #expect(error?.code == .payloadNoMedia)
        #expect(error?.message.hasPrefix("ios_attachments is a URL, but OneSignal expects an object there") == true)
    }

    @Test func `A media key without a value is reported`() throws {
        let dialect = try PayloadDialect.custom(mediaKey: "a.b")
        let value = try payload(#"{"a":{}}"#)
        let error = #expect(throws: PayloadError.self) { try PayloadReader.media(in: value, dialect: dialect) }
        #expect(error?.message.hasSuffix("The app's own key \"a.b\" has no media.") == true)
    }

    @Test(arguments: ["[]", "7", "null", #""attach""#])
    func `A payload that is not an object is rejected`(text: String) throws {
        #expect(throws: PayloadError.self) { try found(text) }
        #expect(#expect(throws: PayloadError.self) { try found(text) }?.code == .payloadInvalid)
    }
}
