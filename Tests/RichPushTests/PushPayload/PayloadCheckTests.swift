import PushPayload
import RichPush
import Testing

struct PayloadCheckTests {
    typealias Row = (payload: String, codes: [PayloadWarning.Code], text: String)

    static func aps(_ aps: String, _ members: String = #""attach":"https://c.example/a.jpg""#) -> String {
        #"{"aps":{\#(aps)},\#(members)}"#
    }

    static let base = #""alert":"Hi","mutable-content":1"#

    static let pushes: [Row] = [
        (aps(base), [], ""),
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
        (aps(base + #","category":"photo""#), [.contentExtension], "aps.category is \"photo\""),
        (aps(base + #","category":"""#), [], ""),
    ]

    static let items: [Row] = [
        (aps(base, #""attach":"http://c.example/a.jpg""#), [.insecureURL], "attach is an http URL"),
        (aps(base, #""attach":"HTTP://c.example/a.jpg""#), [.insecureURL], "App Transport Security"),
        (
            aps(base, #""_sw":{"media":{"url":"https://c.example/a.jpg","fallback_url":"http://c.example/b.jpg"}}"#),
            [.insecureURL], ""
        ),
        (aps(base, #""attach":"https://c.example/a""#), [.extensionMissing], "attach has no extension"),
        (aps(base, #""attach":"https://c.example""#), [.extensionMissing], "attach has no extension"),
        (
            aps(base, #""attach":"https://c.example/a.php?x=.jpg""#), [.extensionMissing],
            "ends in .php, which is not a media"
        ),
        (aps(base, #""attach":"https://c.example/a.jpg?w=5#.x""#), [], ""),
        (aps(base, #""attach":"https://c.example/.jpg/""#), [.extensionMissing], ""),
        (aps(base, #""ab":{"att":{"url":"https://c.example/a","type":"jpg"}}"#), [], ""),
        (
            aps(base, #""ab":{"att":{"url":"https://c.example/a","type":"image/jpeg"}}"#), [.typeNotShown],
            "write one such as jpg"
        ),
        (aps(base, #""ab":{"att":{"url":"https://c.example/a.jpg"}}"#), [.extensionMissing], "has no type"),
        (aps(base, #""rich-media":"https://c.example/a.jpg""#), [], ""),
        (aps(base, #""ct_mediaUrl":"https://c.example/a.jpg""#), [.extensionMissing], "has no type"),
        (aps(base, #""_wp":{"attachments":[{"url":"https://c.example/a"}]}"#), [.extensionMissing], "WonderPush"),
        (aps(base, #""_wp":{"attachments":[{"url":"https://c.example/a","type":"image/png"}]}"#), [], ""),
        (aps(base, #""fcm_options":{"image":"https://c.example/a"}"#), [.extensionMissing], "uses the MIME type"),
        (aps(base, #""attach":"https://c.example/a b.jpg""#), [.urlMalformed], "a space is %20"),
        (aps(base, #""attach":"https://c.example/ä.jpg""#), [.urlMalformed], ""),
        (aps(base, #""attach":"https://c.example/a.webp""#), [.typeNotAttachable], "image/webp, which iOS drops"),
        (aps(base, #""attach":"https://c.example/a.SVG""#), [.typeNotAttachable], "JPEG, PNG or GIF"),
        (aps(base, #""attach":"https://c.example/a.ogg""#), [.typeNotAttachable], "MP3, M4A, WAV or AIFF"),
        (aps(base, #""attach":"https://c.example/a.mkv""#), [.typeNotAttachable], "MP4"),
        (aps(base, #""attach":"https://c.example/a.heif""#), [.typeNotAttachable], "drops"),
        (aps(base, #""attach":"https://c.example/a.heic""#), [.typeNotAttachable], "does not document"),
        (aps(base, #""attach":"https://c.example/a.mov""#), [.typeNotAttachable], "does not document"),
        (
            aps(base, #""_wp":{"attachments":[{"url":"https://c.example/a","type":"image/webp"}]}"#),
            [.typeNotAttachable], "image/webp"
        ),
        (
            aps(base, #""_wp":{"attachments":[{"url":"https://c.example/a.webp","type":"image/jpeg"}]}"#),
            [.typeContradicted, .typeNotAttachable], "image/webp, which iOS drops"
        ),
        (
            aps(base, #""_wp":{"attachments":[{"url":"https://c.example/a.png","type":"image/jpeg"}]}"#),
            [.typeContradicted], "image/png by its extension, but its type says image/jpeg"
        ),
        (
            aps(base, #""ct_mediaUrl":"https://c.example/a.mp4","ct_mediaType":"image""#), [.typeContradicted],
            "says image"
        ),
        (aps(base, #""ct_mediaUrl":"https://c.example/a.mp4","ct_mediaType":"video""#), [], ""),
        // https://github.com/CleverTap/CTNotificationService, fileExtensionForMediaType
        (
            aps(base, #""ct_mediaUrl":"https://c.example/a.m4a","ct_mediaType":"audio""#), [.fileNameContradicted],
            "saves every audio file as .mp3"
        ),
        (
            aps(base, #""ct_mediaUrl":"https://c.example/a.avi","ct_mediaType":"video""#), [.fileNameContradicted],
            "send MP4"
        ),
        (aps(base, #""ct_mediaUrl":"https://c.example/a.mp3","ct_mediaType":"audio""#), [], ""),
        // https://github.com/blueshift-labs/Blueshift-iOS-SDK, BlueshiftExtensionConstants.h
        (aps(base, #""audio_url":"https://c.example/a.wav""#), [.fileNameContradicted], "saves every audio file"),
        (aps(base, #""video_url":"https://c.example/a.mp4""#), [], ""),
        // https://github.com/segment-integrations/analytics-swift-engage, TwilioEngageServiceExtension.swift
        (aps(base, #""media":["https://c.example/a.mp4"]"#), [.typeNotShown], "names every file .png"),
        // https://github.com/MotiSig-Public/ios-motisig-sdk, MotiSigRichPushHandler.swift
        (aps(base, #""_motisig":{"imageUrl":"https://c.example/a"}"#), [.extensionMissing], "then names the file .jpg"),
        // https://github.com/infobip/mobile-messaging-sdk-ios, MMNSEUtils.swift
        (
            aps(base, #""internalData":{"atts":[{"url":"https://c.example/a"}]}"#), [.extensionMissing],
            "names the file after the URL"
        ),
        // https://github.com/appcues/appcues-ios-sdk, AppcuesNotificationServiceExtension.swift
        (
            aps(base, #""appcues_attachment_url":"https://c.example/a""#), [.extensionMissing],
            "depends on a correct Content-Type"
        ),
        (
            aps(base + #","movie":"https://c.example/a.jpg""#, #""x":1"#), [.typeContradicted],
            "its key is for movie files"
        ),
        (aps(base + #","audio":"bell.mp3""#, #""x":1"#), [], ""),
        (
            aps(
                base,
                #""_wp":{"attachments":[{"url":"https://c.example/a.jpg","options":{"typeHint":"image/jpeg"}}]}"#),
            [.optionInvalid], "such as public.jpeg"
        ),
        (
            aps(base, #""ct_mediaUrl":"https://c.example/a.jpg","ct_mediaType":"thing""#), [.typeNotShown],
            "\"thing\", is unknown to CleverTap"
        ),
        (
            aps(
                base,
                #""_wp":{"attachments":[{"url":"https://c.example/a.jpg","options":{"typeHint":"org.x.y"}}]}"#),
            [.typeNotAttachable], "not an attachable type"
        ),
        (
            aps(base, #""ct_mediaUrl":"https://c.example/a.gif","ct_mediaType":"image""#), [.typeNotShown],
            "write gif as its type"
        ),
        (aps(base, #""ct_mediaUrl":"https://c.example/a.gif","ct_mediaType":"gif""#), [], ""),
        (
            aps(base, #""image":"https://c.example/a.gif","source":"xnpe_platform""#), [.typeNotShown],
            "names every file .png"
        ),
        (aps(base, #""image":"https://c.example/a.mp4","group":"g""#), [.typeNotShown], "names every file .png"),
        (aps(base, #""image":"https://c.example/a.mp4""#), [], ""),
        (
            aps(base, #""image_url":"https://c.example/a.gif","bsft_message_uuid":"u""#), [.typeNotShown],
            "use gif_url"
        ),
        (aps(base, #""gif_url":"https://c.example/a.gif""#), [], ""),
        (aps(base, #""media-attachment-url":"item:Camera""#), [], ""),
        (#"{"to":"x","richContent":{"image":"https://c.example/a.jpg"}}"#, [], ""),
        (
            #"{"token":"t","notification":{"title":"Hi"},"apns":{"payload":{"aps":{"mutableContent":true}},"#
                + #""fcmOptions":{"imageUrl":"https://c.example/a.jpg"}}}"#, [], ""
        ),
        (
            #"{"token":"t","notification":{"title":"Hi"},"apns":{"payload":{"aps":{}},"#
                + #""fcmOptions":{"imageUrl":"https://c.example/a.jpg"}}}"#, [.mutableContentMissing], "is missing"
        ),
        // firebase/firebase-admin-python, _messaging_utils.py: `Aps(mutable_content=True)`.
        (
            #"{"topic":"t","notification":{"title":"Hi"},"apns":{"payload":{"aps":{"mutable_content":true}},"#
                + #""fcm_options":{"image":"https://c.example/a.jpg"}}}"#, [], ""
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

    @Test(arguments: pushes + items) func `Each defect gets exactly its warning, with the remedy`(row: Row) throws {
        let value = try payload(row.payload)
        let warnings = PayloadCheck.warnings(for: value, media: try PayloadReader.media(in: value))
        #expect(warnings.map(\.code) == row.codes, "\(warnings.map(\.message))")
        #expect(row.text.isEmpty || warnings.contains { $0.message.contains(row.text) }, "\(warnings.map(\.message))")
    }

    typealias LevelRow = (payload: String, levels: [PayloadWarning.Level])

    static let levels: [LevelRow] = [
        (aps(#""alert":"Hi""#), [.error]),
        (aps(#""alert":"Hi","mutable-content":true"#), [.note]),
        (aps(#""mutable-content":1"#), [.error]),
        (aps(base + #","category":"photo""#), [.note]),
        (#"{"attach":"https://c.example/a.jpg"}"#, [.note, .note]),
        (#"{"attach":"https://c.example/a.jpg","alert":"Hi"}"#, [.error, .error]),
        (#"{"attach":"https://c.example/a.jpg","mutable-content":1}"#, [.error, .error]),
        (aps(base, #""attach":"http://c.example/a.jpg""#), [.error]),
        (aps(base, #""attach":"https://c.example/a""#), [.warning]),
        (aps(base, #""attach":"https://c.example/a.webp""#), [.error]),
        (aps(base, #""attach":"https://c.example/a.heic""#), [.warning]),
        (aps(base, #""ct_mediaUrl":"https://c.example/a.jpg""#), [.error]),
        (aps(base, #""image":"https://c.example/a.gif","group":"g""#), [.warning]),
        (aps(base, #""image":"https://c.example/a.mp4","group":"g""#), [.error]),
    ]

    @Test(arguments: levels)
    func `A warning has level error only if the media would not be shown`(row: LevelRow) throws {
        let value = try payload(row.payload)
        let warnings = PayloadCheck.warnings(for: value, media: try PayloadReader.media(in: value))
        #expect(warnings.map(\.level) == row.levels, "\(warnings.map(\.message))")
    }

    @Test func `A payload without media is checked as well`() throws {
        let warnings = PayloadCheck.warnings(for: try payload(#"{"aps":{"alert":"Hi"}}"#), media: nil)
        #expect(warnings.map(\.code) == [.mutableContentMissing])
    }

    @Test func `An APNs payload nested in a request is checked`() throws {
        let value = try payload(#"{"message":{"apns":{"payload":{"aps":{"alert":"Hi","mutable-content":1}}}}}"#)
        #expect(PayloadCheck.warnings(for: value, media: nil).isEmpty)
    }
}

struct RewrittenPayloadCheckTests {
    /// Warnings about the sender or the service, not about the written media.
    static let others: Set<PayloadWarning.Code> = [.typeNotShown, .mutableContentMissing, .alertMissing]

    @Test(arguments: DialectSample.all) func `A written payload gets no warnings about its media`(
        sample: DialectSample
    ) throws {
        let dialect = try PayloadDialect.named(sample.dialect)
        let document = try PayloadDocument(
            Array(#"{"aps":{"alert":"Hi","mutable-content":1},\#(sample.members)}"#.utf8))
        let media = try PayloadReader.media(in: document.value, dialect: dialect)
        // A type that the SDK saves under another extension is not produced.
        let saved = dialect.attachmentTypes
        for type in AttachmentType.allCases
        where saved.contains(type) || !saved.contains(where: { $0.kind == type.kind }) {
            let prepared = media.items.enumerated().map { (index, item) -> PreparedMedia in
                if case .url = item.address { PreparedSample.ready(type, at: "\(index)") } else { .untouched }
            }
            let written = try PayloadWriter.write(document, media: media, prepared: prepared)
            let value = try PayloadDocument(written.bytes).value
            let read = try PayloadReader.media(in: value, dialect: dialect)
            let warnings = PayloadCheck.warnings(for: value, media: read).filter { !Self.others.contains($0.code) }
            #expect(warnings.isEmpty, "\(type): \(warnings.map(\.message))")
        }
    }
}
