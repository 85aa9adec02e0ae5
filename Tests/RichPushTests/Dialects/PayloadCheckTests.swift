import RichPush
import Testing

struct PayloadCheckTests {
    typealias Row = (payload: String, codes: [PayloadWarning.Code], says: String)

    static func aps(_ aps: String, _ members: String = #""attach":"https://c.example/a.jpg""#) -> String {
        #"{"aps":{\#(aps)},\#(members)}"#
    }

    static let good = #""alert":"Hi","mutable-content":1"#

    static let pushes: [Row] = [
        (aps(good), [], ""),
        (aps(#""alert":{"body":"Hi"},"mutable-content":"1""#), [], ""),
        (aps(#""alert":{"loc-key":"K"},"mutable-content":1.0"#), [], ""),
        (aps(#""alert":"Hi","mutable-content":1e0"#), [], ""),
        (aps(#""alert":"Hi""#), [.mutableContentMissing], "aps.mutable-content is missing"),
        (aps(#""alert":"Hi","mutable-content":0"#), [.mutableContentMissing], "does not start"),
        // https://github.com/home-assistant/iOS, https://github.com/CleverTap/clevertap-ios-sdk
        (aps(#""alert":"Hi","mutable-content":true"#), [.mutableContentSpelling], "Apple documents the number 1"),
        (aps(#""alert":"Hi","mutable-content":"true""#), [.mutableContentMissing], "is \"true\" instead"),
        (aps(#""alert":"Hi","mutable-content":null"#), [.mutableContentMissing], "not the number 1"),
        (aps(#""alert":"Hi","mutable-content":[1]"#), [.mutableContentMissing], "not the number 1"),
        (
            aps(#""alert":"Hi","mutable_content":1"#), [.mutableContentMissing],
            "aps.mutable_content is not how iOS spells"
        ),
        (aps(#""alert":"Hi","mutableContent":1"#), [.mutableContentMissing], "mutable-content, with a hyphen"),
        (
            aps(#""alert":"Hi""#, #""mutable-content":1,"attach":"https://c.example/a.jpg""#),
            [.mutableContentMissing], "mutable-content is beside aps, not inside it"
        ),
        (
            aps(#""alert":"Hi""#, #""mutable_content":true,"attach":"https://c.example/a.jpg""#),
            [.mutableContentMissing], "mutable_content is beside aps"
        ),
        (
            aps(#""alert":{"body":"Hi","mutable-content":1}"#), [.mutableContentMissing],
            "is in aps.alert, not directly in aps"
        ),
        (
            #"{"attach":"https://c.example/a.jpg"}"#, [.mutableContentMissing, .alertMissing],
            "The payload has no aps"
        ),
        (aps(#""mutable-content":1"#), [.alertMissing], "aps.alert is missing"),
        (aps(#""mutable-content":1,"alert":"""#), [.alertMissing], "aps.alert holds no text"),
        (aps(#""mutable-content":1,"alert":{"title":""}"#), [.alertMissing], "aps.alert holds no text"),
        (aps(#""mutable-content":1,"alert":{"title":7}"#), [.alertMissing], "aps.alert holds no text"),
        (aps(#""mutable-content":1,"content-available":1"#), [.alertMissing], "The push is silent"),
        (aps(#""mutable-content":1,"title":"Hi""#), [.alertMissing], "aps.title is outside of alert"),
        (
            aps(#""mutable-content":1"#, #""alert":"Hi","attach":"https://c.example/a.jpg""#), [.alertMissing],
            "alert is beside aps"
        ),
        (aps(good + #","category":"photo""#), [.contentExtension], "aps.category is \"photo\""),
        (aps(good + #","category":"""#), [], ""),
    ]

    static let items: [Row] = [
        (aps(good, #""attach":"http://c.example/a.jpg""#), [.insecureURL], "attach is an http URL"),
        (aps(good, #""attach":"HTTP://c.example/a.jpg""#), [.insecureURL], "App Transport Security"),
        (
            aps(good, #""_sw":{"media":{"url":"https://c.example/a.jpg","fallback_url":"http://c.example/b.jpg"}}"#),
            [.insecureURL], ""
        ),
        (aps(good, #""attach":"https://c.example/a""#), [.extensionMissing], "attach has no extension"),
        (aps(good, #""attach":"https://c.example""#), [.extensionMissing], "attach has no extension"),
        (
            aps(good, #""attach":"https://c.example/a.php?x=.jpg""#), [.extensionMissing],
            "ends in .php, which is not a media"
        ),
        (aps(good, #""attach":"https://c.example/a.jpg?w=5#.x""#), [], ""),
        (aps(good, #""attach":"https://c.example/.jpg/""#), [.extensionMissing], ""),
        (aps(good, #""ab":{"att":{"url":"https://c.example/a","type":"jpg"}}"#), [], ""),
        (
            aps(good, #""ab":{"att":{"url":"https://c.example/a","type":"image/jpeg"}}"#), [.typeNotShown],
            "write one such as jpg"
        ),
        (aps(good, #""ab":{"att":{"url":"https://c.example/a.jpg"}}"#), [.extensionMissing], "has no type"),
        (aps(good, #""rich-media":"https://c.example/a.jpg""#), [], ""),
        (aps(good, #""ct_mediaUrl":"https://c.example/a.jpg""#), [.extensionMissing], "has no type"),
        (aps(good, #""_wp":{"attachments":[{"url":"https://c.example/a"}]}"#), [.extensionMissing], "WonderPush"),
        (aps(good, #""_wp":{"attachments":[{"url":"https://c.example/a","type":"image/png"}]}"#), [], ""),
        (aps(good, #""fcm_options":{"image":"https://c.example/a"}"#), [.extensionMissing], "uses the MIME type"),
        (aps(good, #""attach":"https://c.example/a b.jpg""#), [.urlMalformed], "a space is %20"),
        (aps(good, #""attach":"https://c.example/ä.jpg""#), [.urlMalformed], ""),
        (aps(good, #""attach":"https://c.example/a.webp""#), [.typeNotAttachable], "image/webp, which iOS drops"),
        (aps(good, #""attach":"https://c.example/a.SVG""#), [.typeNotAttachable], "JPEG, PNG or GIF"),
        (aps(good, #""attach":"https://c.example/a.ogg""#), [.typeNotAttachable], "MP3, M4A, WAV or AIFF"),
        (aps(good, #""attach":"https://c.example/a.mkv""#), [.typeNotAttachable], "MP4"),
        (aps(good, #""attach":"https://c.example/a.heif""#), [.typeNotAttachable], "drops"),
        (aps(good, #""attach":"https://c.example/a.heic""#), [.typeNotAttachable], "does not document"),
        (aps(good, #""attach":"https://c.example/a.mov""#), [.typeNotAttachable], "does not document"),
        (
            aps(good, #""_wp":{"attachments":[{"url":"https://c.example/a","type":"image/webp"}]}"#),
            [.typeNotAttachable], "image/webp"
        ),
        (
            aps(good, #""_wp":{"attachments":[{"url":"https://c.example/a.webp","type":"image/jpeg"}]}"#),
            [.typeContradicted, .typeNotAttachable], "image/webp, which iOS drops"
        ),
        (
            aps(good, #""_wp":{"attachments":[{"url":"https://c.example/a.png","type":"image/jpeg"}]}"#),
            [.typeContradicted], "image/png by its extension, but its type says image/jpeg"
        ),
        (
            aps(good, #""ct_mediaUrl":"https://c.example/a.mp4","ct_mediaType":"image""#), [.typeContradicted],
            "says image"
        ),
        (aps(good, #""ct_mediaUrl":"https://c.example/a.mp4","ct_mediaType":"video""#), [], ""),
        (
            aps(good + #","movie":"https://c.example/a.jpg""#, #""x":1"#), [.typeContradicted],
            "its key is for movie files"
        ),
        (aps(good + #","audio":"bell.mp3""#, #""x":1"#), [], ""),
        (
            aps(
                good,
                #""_wp":{"attachments":[{"url":"https://c.example/a.jpg","options":{"typeHint":"image/jpeg"}}]}"#),
            [.optionInvalid], "such as public.jpeg"
        ),
        (
            aps(good, #""ct_mediaUrl":"https://c.example/a.jpg","ct_mediaType":"thing""#), [.typeNotShown],
            "\"thing\", is unknown to CleverTap"
        ),
        (
            aps(
                good,
                #""_wp":{"attachments":[{"url":"https://c.example/a.jpg","options":{"typeHint":"org.x.y"}}]}"#),
            [.typeNotAttachable], "not an attachable type"
        ),
        (
            aps(good, #""ct_mediaUrl":"https://c.example/a.gif","ct_mediaType":"image""#), [.typeNotShown],
            "write gif as its type"
        ),
        (aps(good, #""ct_mediaUrl":"https://c.example/a.gif","ct_mediaType":"gif""#), [], ""),
        (
            aps(good, #""image":"https://c.example/a.gif","source":"xnpe_platform""#), [.typeNotShown],
            "names every file .png"
        ),
        (aps(good, #""image":"https://c.example/a.mp4","group":"g""#), [.typeNotShown], "names every file .png"),
        (aps(good, #""image":"https://c.example/a.mp4""#), [], ""),
        (
            aps(good, #""image_url":"https://c.example/a.gif","bsft_message_uuid":"u""#), [.typeNotShown],
            "use gif_url"
        ),
        (aps(good, #""gif_url":"https://c.example/a.gif""#), [], ""),
        (aps(good, #""media-attachment-url":"item:Camera""#), [], ""),
        (#"{"to":"x","richContent":{"image":"https://c.example/a.jpg"}}"#, [], ""),
        (
            #"{"token":"t","notification":{"title":"Hi"},"apns":{"payload":{"aps":{"mutableContent":true}},"#
                + #""fcmOptions":{"imageUrl":"https://c.example/a.jpg"}}}"#, [], ""
        ),
        (
            #"{"token":"t","notification":{"title":"Hi"},"apns":{"payload":{"aps":{}},"#
                + #""fcmOptions":{"imageUrl":"https://c.example/a.jpg"}}}"#, [.mutableContentMissing], "is missing"
        ),
        (#"{"ios_attachments":{"id":"https://c.example/a.jpg"}}"#, [], ""),
        (
            #"{"message":{"notification":{"title":"Hi"},"apns":{"payload":{"aps":{"mutable-content":1}},"#
                + #""fcm_options":{"image":"https://c.example/a.jpg"}}}}"#, [], ""
        ),
        (
            #"{"message":{"notification":{"title":"Hi"},"apns":{"fcm_options":{"image":"https://c.example/a.jpg"}}}}"#,
            [.mutableContentMissing], "no aps"
        ),
    ]

    @Test(arguments: pushes + items) func `Each fault is told, with its remedy, and nothing else`(row: Row) throws {
        let value = try payload(row.payload)
        let warnings = PayloadCheck.warnings(for: value, media: try PayloadReader.media(in: value))
        #expect(warnings.map(\.code) == row.codes, "\(warnings.map(\.message))")
        #expect(row.says.isEmpty || warnings.contains { $0.message.contains(row.says) }, "\(warnings.map(\.message))")
    }

    typealias LevelRow = (payload: String, levels: [PayloadWarning.Level])

    static let levels: [LevelRow] = [
        (aps(#""alert":"Hi""#), [.error]),
        (aps(#""alert":"Hi","mutable-content":true"#), [.note]),
        (aps(#""mutable-content":1"#), [.error]),
        (aps(good + #","category":"photo""#), [.note]),
        (#"{"attach":"https://c.example/a.jpg"}"#, [.note, .note]),
        (#"{"attach":"https://c.example/a.jpg","alert":"Hi"}"#, [.error, .error]),
        (#"{"attach":"https://c.example/a.jpg","mutable-content":1}"#, [.error, .error]),
        (aps(good, #""attach":"http://c.example/a.jpg""#), [.error]),
        (aps(good, #""attach":"https://c.example/a""#), [.warning]),
        (aps(good, #""attach":"https://c.example/a.webp""#), [.error]),
        (aps(good, #""attach":"https://c.example/a.heic""#), [.warning]),
        (aps(good, #""ct_mediaUrl":"https://c.example/a.jpg""#), [.error]),
        (aps(good, #""image":"https://c.example/a.gif","group":"g""#), [.warning]),
        (aps(good, #""image":"https://c.example/a.mp4","group":"g""#), [.error]),
    ]

    @Test(arguments: levels) func `An error is what keeps the media from being shown`(row: LevelRow) throws {
        let value = try payload(row.payload)
        let warnings = PayloadCheck.warnings(for: value, media: try PayloadReader.media(in: value))
        #expect(warnings.map(\.level) == row.levels, "\(warnings.map(\.message))")
    }

    @Test func `A payload without media is checked as well`() throws {
        let warnings = PayloadCheck.warnings(for: try payload(#"{"aps":{"alert":"Hi"}}"#), media: nil)
        #expect(warnings.map(\.code) == [.mutableContentMissing])
    }

    @Test func `An apns payload inside a request is checked where it stands`() throws {
        let value = try payload(#"{"message":{"apns":{"payload":{"aps":{"alert":"Hi","mutable-content":1}}}}}"#)
        #expect(PayloadCheck.warnings(for: value, media: nil).isEmpty)
    }
}
