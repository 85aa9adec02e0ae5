import RichPush
import Testing

/// Media that could not be prepared is removed with the members that belong only to it; everything else stays.
struct FailedMediaTests {
    private let ready = "https://push.example/a/attachment.jpg"

    @Test(arguments: [
        (#"{"aps":{"alert":"a"},"attach":"https://c/a"}"#, #"{"aps":{"alert":"a"}}"#),
        (#"{"attach":"https://c/a"}"#, "{}"),
        (#"{"aps":{"image":"https://c/a"},"z":1}"#, #"{"aps":{},"z":1}"#),
        (#"{"fcm_options":{"image":"https://c/a"},"z":1}"#, #"{"z":1}"#),
        (
            #"{"fcm_options":{"image":"https://c/a","analytics_label":"l"},"z":1}"#,
            #"{"fcm_options":{"analytics_label":"l"},"z":1}"#
        ),
        (#"{"CIO":{"push":{"image":"https://c/a"}},"z":1}"#, #"{"z":1}"#),
        (#"{"ab":{"att":{"url":"https://c/a","type":"jpg"},"cid":"1"}}"#, #"{"ab":{"cid":"1"}}"#),
        (#"{"ct_mediaUrl":"https://c/a","ct_mediaType":"image","wzrk_id":"0"}"#, #"{"wzrk_id":"0"}"#),
        (
            #"{"_wp":{"attachments":[{"url":"https://c/a","type":"image/png","id":"0","options":{"thumbnailTime":1}}],"#
                + #""n":1}}"#, #"{"_wp":{"n":1}}"#
        ),
        (#"{"_wp":{"attachments":[{"url":"https://c/a","title":"t"}]}}"#, #"{"_wp":{"attachments":[{"title":"t"}]}}"#),
        (
            #"{"_wp":{"n":1,"attachments":[{"url":"https://c/a","options":{"new":1,"thumbnailTime":1}}]}}"#,
            #"{"_wp":{"n":1}}"#
        ),
        (#"{"attachment":{"url":"https://c/a","content-type":"jpeg","lazy":false},"z":1}"#, #"{"z":1}"#),
        (#"{"internalData":{"atts":[{"url":"https://c/a"}],"x":1}}"#, #"{"internalData":{"x":1}}"#),
        (#"{"krt_attributes":"{\"attachment_url\":\"https://c/a\"}","z":1}"#, #"{"z":1}"#),
        (
            #"{"krt_attributes":"{\"attachment_url\":\"https://c/a\", \"t\":1.0}","z":1}"#,
            #"{"krt_attributes":"{\"t\":1.0}","z":1}"#
        ),
        (#"{"es_notification_images":"[\"https://c/a\"]","z":1}"#, #"{"z":1}"#),
        (
            #"{"_sw":{"media":{"url":"https://c/a","fallback_url":"https://c/b","title":"t"}}}"#,
            #"{"_sw":{"media":{"title":"t"}}}"#
        ),
        (
            #"{"attachment_name":"a.jpg","attachment_type":"image/jpeg","attachment_size":1,"attachment_expires":2,"#
                + #""attachment_url":"https://c/a"}"#, "{}"
        ),
        (
            #"{"com.urbanairship.media_attachment":{"url":["https://c/a"],"options":{"time":1,"hidden":true},"#
                + #""content":{"title":"t"}}}"#, #"{"com.urbanairship.media_attachment":{"content":{"title":"t"}}}"#
        ),
        (#"{"APNS":"{\"attach\":\"https://c/a\"}","default":"d"}"#, #"{"APNS":"{}","default":"d"}"#),
        (
            "{\n  \"aps\": {},\n  \"a\": 1.0,\n  \"attach\": \"https://c/a\"\n}\n",
            "{\n  \"aps\": {},\n  \"a\": 1.0\n}\n"
        ),
    ])
    func `Failed media is removed with the containers that become empty`(payload: String, result: String) throws {
        let written = try RewrittenPayload(payload, [PreparedSample.failed])
        #expect(written.text == result)
        #expect(written.warnings.map(\.code) == [.mediaRemoved])
        #expect(
            written.warnings[0].message.hasSuffix(
                "(media.unrecognized): The file is HTML, not media; give the picture's own URL."))
    }

    private func payload(_ wrap: (String) -> String, _ parts: [String]) -> String {
        wrap(parts.joined(separator: ", "))
    }

    @Test(arguments: [
        [0], [1], [2], [3], [0, 1], [0, 2], [1, 3], [2, 3], [0, 1, 2], [1, 2, 3], [0, 2, 3], [0, 1, 2, 3],
    ])
    func `Any media of a list can be removed`(removed: [Int]) throws {
        let prepared = (0..<4).map { removed.contains($0) ? PreparedSample.failed : PreparedSample.ready(at: "\($0)") }
        let containers: [(wrap: (String) -> String, part: (String, Int) -> String)] = [
            (
                { "{\"aps\":{},\"_wp\":{\"n\":0,\"attachments\":[ \($0) ]}}" },
                { "{\"url\":\"\($0)\",\"id\":\"\($1)\"}" }
            ),
            (
                { "{\"aps\":{},\"com.urbanairship.media_attachment\":{\"n\":0,\"url\":[ \($0) ]}}" },
                { u, _ in "\"\(u)\"" }
            ),
            ({ "{\"aps\":{},\"os_data\":{\"n\":0,\"att\":{ \($0) }}}" }, { "\"\($1)\":\"\($0)\"" }),
            (
                { "{\"aps\":{},\"n\":0,\"es_notification_images\":\"[ \($0) ]\"}" },
                { u, _ in "\\\"\(u)\\\"" }
            ),
        ]
        for container in containers {
            let before = (0..<4).map { container.part("https://c/\($0)", $0) }
            let after = (0..<4).filter { !removed.contains($0) }
                .map { container.part("https://push.example/\($0)/attachment.jpg", $0) }
            let written = try RewrittenPayload(payload(container.wrap, before), prepared)
            #expect(written.warnings.map(\.code) == removed.map { _ in .mediaRemoved })
            let attachments = try written.value["attachprep"]?["attachments"]?.elements ?? []
            #expect(attachments.count == after.count)
            guard !after.isEmpty else {
                #expect(!written.text.contains("https:"))
                #expect(!written.text.contains("[") && !written.text.contains("att\""))
                continue
            }
            #expect(written.withoutNeutralObject == payload(container.wrap, after))
        }
    }

    @Test func `Options shared with remaining media are kept`() throws {
        let written = try RewrittenPayload(
            #"{"com.urbanairship.media_attachment":{"url":["https://c/a","https://c/b"],"options":{"time":2.0}}}"#,
            [
                PreparedSample.failed,
                PreparedSample.ready(.mpeg4, at: "b") { $0.thumbnailTime = .movie(MovieTime(seconds: 2)) },
            ])
        #expect(
            written.withoutNeutralObject
                == #"{"com.urbanairship.media_attachment":{"url":["https://push.example/b/attachment.mp4"],"#
                + #""options":{"time":2.0}}}"#)
    }

    @Test func `A reference to a removed thumbnail is removed`() throws {
        let written = try RewrittenPayload(
            #"{"com.urbanairship.media_attachment":{"urls":[{"url":"https://c/a","url_id":"x"},"#
                + #"{"url":"https://c/b","url_id":"y"}],"thumbnail_id":"x"}}"#,
            [PreparedSample.failed, PreparedSample.ready(at: "a")])
        #expect(
            written.withoutNeutralObject
                == #"{"com.urbanairship.media_attachment":{"urls":[{"url":"\#(ready)","url_id":"y"}]}}"#)
    }

    @Test func `A receipt is requested even when all media is removed`() throws {
        let written = try RewrittenPayload(
            #"{"aps":{},"attach":"https://c/a"}"#, [PreparedSample.failed],
            receipt: PushReceipt(url: "https://p/r", token: "t"))
        #expect(written.text == #"{"aps":{},"attachprep":{"receipt":{"url":"https://p/r","token":"t"}}}"#)
    }

    @Test func `Control characters of a key are replaced in the warning`() throws {
        let written = try RewrittenPayload(#"{"att":{"\u001b[2J":"https://c/a"}}"#, [PreparedSample.failed])
        #expect(written.warnings[0].message.hasPrefix("The media at att.?[2J is removed"))
    }
}
