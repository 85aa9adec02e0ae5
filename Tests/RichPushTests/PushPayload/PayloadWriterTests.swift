import PushPayload
import RichPush
import Testing

/// Prepared media replaces the original URL, in the form of the dialect.
struct PayloadWriterTests {
    private let jpeg = "https://push.example/a/attachment.jpg"

    @Test func `Only the URL changes, and the neutral object is appended`() throws {
        let payload =
            "{ \"aps\" : {\"mutable-content\":1.0, \"alert\":\"\\u00e9\\/\"},\n\t\"attach\":\"https:\\/\\/c\" , "
            + "\"n\":[-0,1e3] }\n"
        let written = try RewrittenPayload(payload, [PreparedSample.ready()])
        let neutral =
            #""attachprep":{"attachments":[{"id":"0","url":"https://push.example/a/attachment.jpg","bytes":61220,"#
            + #""sha256":"\#(PreparedSample.digest("a"))","options":{"typeHint":"public.jpeg"}}]}"#
        #expect(
            written.text
                == payload.replacing("https:\\/\\/c", with: jpeg.replacing("/", with: "\\/"))
                .replacing("1e3]", with: "1e3] , \(neutral)"))
        #expect(written.warnings.isEmpty)
    }

    @Test func `A multi-line payload gets a multi-line neutral object`() throws {
        let payload = "{\r\n  \"aps\": {},\r\n  \"attach\": \"https://c/a\"\r\n}\r\n"
        let written = try RewrittenPayload(payload, [PreparedSample.ready()])
        #expect(
            written.text
                == """
                {
                  "aps": {},
                  "attach": "https://push.example/a/attachment.jpg",
                  "attachprep": {
                    "attachments": [
                      {
                        "id": "0",
                        "url": "https://push.example/a/attachment.jpg",
                        "bytes": 61220,
                        "sha256": "\(PreparedSample.digest("a"))",
                        "options": {
                          "typeHint": "public.jpeg"
                        }
                      }
                    ]
                  }
                }

                """.replacing("\n", with: "\r\n"))
    }

    @Test(arguments: [
        (
            #"{"ct_mediaUrl":"https://c/a","ct_mediaType":"video"}"#, AttachmentType.gif,
            #"{"ct_mediaUrl":"U","ct_mediaType":"gif"}"#
        ),
        (#"{"ct_mediaUrl":"https://c/a"}"#, .mpeg4, #"{"ct_mediaUrl":"U","ct_mediaType":"video"}"#),
        (#"{"rich-media":"https://c/a"}"#, .jpeg, #"{"rich-media":"U"}"#),
        (#"{"rich-media":"https://c/a"}"#, .png, #"{"rich-media":"U","rich-media-type":"png"}"#),
        (#"{"ab":{"att":{"url":"https://c/a","type":"WEBP"}}}"#, .png, #"{"ab":{"att":{"url":"U","type":"PNG"}}}"#),
        (#"{"ab":{"att":{"url":"https://c/a"},"x":1}}"#, .png, #"{"ab":{"att":{"url":"U","type":"png"},"x":1}}"#),
        (
            #"{"_wp":{"attachments":[{"url":"https://c/a","type":"image/webp"}]}}"#, .gif,
            #"{"_wp":{"attachments":[{"url":"U","type":"image/gif"}]}}"#
        ),
        (
            #"{"attachment":{"url":"https://c/a","content-type":"mpeg4"}}"#, .mpeg4,
            #"{"attachment":{"url":"U","content-type":"mpeg4"}}"#
        ),
        (
            #"{"rover":{"notification":{"attachment":{"type":"IMAGE","url":"https://c/a"}}}}"#, .mp3,
            #"{"rover":{"notification":{"attachment":{"type":"AUDIO","url":"U"}}}}"#
        ),
        (
            #"{"attachment_name":"a.b.webp","attachment_type":"image/webp","attachment_size":77,"#
                + #""attachment_expires":1,"attachment_url":"https://c/a"}"#, .jpeg,
            #"{"attachment_name":"a.b.jpg","attachment_type":"image/jpeg","attachment_size":61220,"#
                + #""attachment_expires":1,"attachment_url":"U"}"#
        ),
        (
            #"{"attachment_name":"cat.JPEG","attachment_size":61220.0,"attachment_url":"https://c/a"}"#, .jpeg,
            #"{"attachment_name":"cat.JPEG","attachment_size":61220.0,"attachment_url":"U"}"#
        ),
        (
            #"{"attachment_name":".hidden","attachment_size":"5","attachment_url":"https://c/a"}"#, .jpeg,
            #"{"attachment_name":".hidden.jpg","attachment_size":"61220","attachment_url":"U"}"#
        ),
    ])
    func `Type, name and length are updated in the dialect's notation`(
        payload: String, type: AttachmentType, result: String
    ) throws {
        let written = try RewrittenPayload(payload, [PreparedSample.ready(type)])
        let url = "https://push.example/a/attachment.\(type.fileExtension)"
        #expect(written.withoutNeutralObject == result.replacing(#""U""#, with: #""\#(url)""#))
    }

    @Test(arguments: [
        (#"{"aps":{"movie":"https://c/a","x":1}}"#, AttachmentType.jpeg, #"{"aps":{"image":"U","x":1}}"#),
        (#"{"aps":{"movie":"https://c/a"}}"#, .mpeg4, #"{"aps":{"movie":"U"}}"#),
        (#"{"aps":{"image":"https://c/a"}}"#, .gif, #"{"aps":{"image":"U"}}"#),
        (#"{"image_url":"https://c/a","bsft_user_uuid":"1"}"#, .gif, #"{"gif_url":"U","bsft_user_uuid":"1"}"#),
        (#"{"gif_url":"https://c/a","bsft_user_uuid":"1"}"#, .png, #"{"image_url":"U","bsft_user_uuid":"1"}"#),
        (#"{"video_url":"https://c/a","bsft_user_uuid":"1"}"#, .mpeg4Audio, #"{"audio_url":"U","bsft_user_uuid":"1"}"#),
    ])
    func `A key named after a media kind is renamed with the kind`(
        payload: String, type: AttachmentType, result: String
    ) throws {
        let written = try RewrittenPayload(payload, [PreparedSample.ready(type)])
        let url = "https://push.example/a/attachment.\(type.fileExtension)"
        #expect(written.withoutNeutralObject == result.replacing(#""U""#, with: #""\#(url)""#))
        #expect(written.warnings.isEmpty)
    }

    @Test func `A key that exists already is not duplicated, with a warning`() throws {
        let written = try RewrittenPayload(
            #"{"aps":{"movie":"https://c/a","image":"https://c/b"}}"#,
            [PreparedSample.ready(.gif, at: "a"), PreparedSample.ready(.png, at: "b")])
        #expect(
            written.withoutNeutralObject
                == #"{"aps":{"movie":"https://push.example/a/attachment.gif","#
                + #""image":"https://push.example/b/attachment.png"}}"#)
        #expect(written.warnings.map(\.code) == [.typeContradicted])
        #expect(written.warnings[0].message.contains("aps.movie now holds image/gif"))
    }

    @Test func `A key freed by removed media is used`() throws {
        let written = try RewrittenPayload(
            #"{"aps":{"movie":"https://c/a","image":"https://c/b","x":1}}"#,
            [PreparedSample.ready(.gif, at: "a"), PreparedSample.failed])
        #expect(
            written.withoutNeutralObject == #"{"aps":{"image":"https://push.example/a/attachment.gif","x":1}}"#)
        #expect(written.warnings.map(\.code) == [.mediaRemoved])
    }

    @Test func `Two keys are not renamed to the same key`() throws {
        let written = try RewrittenPayload(
            #"{"aps":{"movie":"https://c/a","audio":"https://c/b"}}"#,
            [PreparedSample.ready(.gif, at: "a"), PreparedSample.ready(.png, at: "b")])
        #expect(try written.value["aps"]?.members?.map(\.key) == ["image", "audio"])
        #expect(written.warnings.map(\.code) == [.typeContradicted])
    }

    @Test func `Media in a JSON string is replaced inside the string`() throws {
        let karte = try RewrittenPayload(
            #"{"krt_attributes":"{\"title\": \"\\u00e9\", \"attachment_url\":\"https:\\/\\/c\"}","z":1}"#,
            [PreparedSample.ready()])
        #expect(
            karte.withoutNeutralObject
                == #"{"krt_attributes":"{\"title\": \"\\u00e9\", "#
                + #"\"attachment_url\":\"https:\\/\\/push.example\\/a\\/attachment.jpg\"}","z":1}"#)
        let reteno = try RewrittenPayload(
            #"{"es_notification_images":"[\"https://c/a\",\"https://c/b\"]"}"#,
            [PreparedSample.ready(at: "a"), PreparedSample.ready(at: "b")])
        #expect(
            reteno.withoutNeutralObject
                == #"{"es_notification_images":"[\"https://push.example/a/attachment.jpg\","#
                + #"\"https://push.example/b/attachment.jpg\"]"}"#)
    }

    @Test func `A fallback replaces the first URL, and its own field is removed`() throws {
        let payload = #"{"_sw":{"media":{"url":"https://c/a","fallback_url":"https://c/b","title":"t"}}}"#
        let manifest = PreparedSample.manifest()
        #expect(
            try RewrittenPayload(payload, [.fallback(manifest)]).withoutNeutralObject
                == #"{"_sw":{"media":{"url":"\#(jpeg)","title":"t"}}}"#)
        #expect(
            try RewrittenPayload(payload, [.ready(manifest)]).withoutNeutralObject
                == payload.replacing("https://c/a", with: jpeg))
    }

    @Test func `Relative URLs stay unchanged, and bundle files appear in the neutral object`() throws {
        let written = try RewrittenPayload(
            #"{"aps":{"movie":"clip.mp4","image":"https://c/a"}}"#, [.untouched, PreparedSample.ready()])
        #expect(
            written.withoutNeutralObject == #"{"aps":{"movie":"clip.mp4","image":"\#(jpeg)"}}"#)
        #expect(try written.value["attachprep"]?["attachments"]?[0]?["file"]?.string == "clip.mp4")
        let camera = #"{"attachment":{"url":"/api/camera","content-type":"jpeg"}}"#
        #expect(try RewrittenPayload(camera, dialect: "home-assistant", [.untouched]).text == camera)
    }

    @Test(arguments: [
        #"{"attach":"https://c/a"}"#, "{\n  \"aps\": {\n    \"movie\": \"https://c/a\"\n  }\n}\n",
        #"{"attachprep":{"attachments":[{"id":"9","url":"https://old"}]},"attach":"https://c/a","z":1}"#,
        #"{"com.urbanairship.media_attachment":{"url":["https://c/a"],"options":{"crop":{"x":0.5,"y":0.0,"width":0.50,"#
            + #""height":1},"time":2.50,"hidden":true}}}"#,
        #"{"krt_attributes":"{\"attachment_url\":\"https://c/a\"}"}"#,
        #"{"image_url":"https://c/a","bsft_user_uuid":"1"}"#, #"{"rich-media":"https://c/a"}"#,
        #"{"aps":{"alert":"\#(String(repeating: "x", count: 3_700))"},"attach":"https://c/a"}"#,
        #"{"aps":{"alert":"\#(String(repeating: "x", count: 3_900))"}, "attach":"https://c/a"}"#,
    ])
    func `Writing a payload twice gives the same result as writing it once`(payload: String) throws {
        let manifest = try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)
        let prepared = PreparedMedia.ready(
            PreparedSample.manifest(.gif, thumbnail: true) {
                $0.thumbnailClippingRect = manifest
                $0.thumbnailTime = .frame(2)
                $0.thumbnailHidden = true
            })
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        let once = try RewrittenPayload(payload, [prepared], receipt: receipt)
        #expect(once.text != payload)
        #expect(try RewrittenPayload(once.text, [prepared], receipt: receipt).text == once.text)
    }
}
