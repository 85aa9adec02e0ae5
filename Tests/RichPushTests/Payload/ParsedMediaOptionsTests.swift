import RichPush
import Testing

struct ParsedMediaOptionsTests {
    @Test func `Airship's crop, time and hidden apply to each of its media`() throws {
        let items = try found(
            #"{"com.urbanairship.media_attachment":{"urls":[{"url":"https://c.example/a.mp4","url_id":"a"},"#
                + #"{"url":"https://c.example/b.jpg","url_id":"b"}],"url":"https://c.example/c.jpg","#
                + #""options":{"crop":{"x":0.25,"y":0.25,"width":0.5,"height":0.5},"time":15,"hidden":false}}}"#)
        let at = "com.urbanairship.media_attachment.urls"
        #expect(
            items == [
                try .url("\(at)[0].url", "https://c.example/a.mp4", id: "a")
                    .with(crop: (0.25, 0.25, 0.5, 0.5), time: 15, hidden: false),
                try .url("\(at)[1].url", "https://c.example/b.jpg", id: "b")
                    .with(crop: (0.25, 0.25, 0.5, 0.5), time: 15, hidden: false),
            ])
    }

    @Test func `Airship's thumbnail ID hides the other thumbnails`() throws {
        let text =
            #"{"com.urbanairship.media_attachment":{"urls":[{"url":"https://c.example/a.mp4","url_id":"a"},"#
            + #"{"url":"https://c.example/b.jpg","url_id":"b"}],"thumbnail_id":"ID"}}"#
        #expect(try found(text.replacing("ID", with: "b")).map(\.options.thumbnailHidden) == [true, nil])
        let shown = text.replacing("ID", with: "b").replacing(
            "\"thumbnail_id\"", with: "\"options\":{\"hidden\":false},\"thumbnail_id\"")
        #expect(try found(shown).map(\.options.thumbnailHidden) == [true, false])
        let media = try PayloadReader.media(in: payload(text))
        #expect(media.items.map(\.options.thumbnailHidden) == [nil, nil])
        #expect(media.warnings.map(\.code) == [.optionInvalid])
    }

    @Test func `Notifee's first attachment takes precedence over its image, with its options`() throws {
        let items = try found(
            #"{"notifee_options":{"image":"https://c.example/i.jpg","ios":{"attachments":[{"#
                + #""url":"https://c.example/a.mp4","id":"x","typeHint":"public.mpeg-4","thumbnailHidden":true,"#
                + #""thumbnailClippingRect":{"x":0,"y":0,"width":1,"height":0.5},"thumbnailTime":3},"#
                + #"{"url":"https://c.example/b.jpg"}]}}}"#)
        #expect(
            items == [
                try .url("notifee_options.ios.attachments[0].url", "https://c.example/a.mp4", id: "x")
                    .with(crop: (0, 0, 1, 0.5), time: 3, hidden: true)
            ])
    }

    @Test(arguments: [
        ("thumbnailClippingRect", "thumbnailTime", "thumbnailHidden"),
        (
            "UNNotificationAttachmentOptionsThumbnailClippingRectKey",
            "UNNotificationAttachmentOptionsThumbnailTimeKey", "UNNotificationAttachmentOptionsThumbnailHiddenKey"
        ),
        (
            "UNNotificationAttachmentOptionsThumbnailClippingRect", "UNNotificationAttachmentOptionsThumbnailTime",
            "UNNotificationAttachmentOptionsThumbnailHidden"
        ),
    ])
    func `WonderPush's options are read by Apple's names and by the manifest's`(
        rect: String, time: String, hidden: String
    )
        throws
    {
        let items = try found(
            #"{"_wp":{"attachments":[{"url":"https://c.example/a.mp4","options":{"\#(hidden)":true,"#
                + #""\#(rect)":{"X":0.5,"Y":0,"Width":0.5,"Height":1},"#
                + #""\#(time)":{"value":1800,"timescale":600,"epoch":0,"flags":1}}}]}}"#)
        #expect(
            items == [
                try .url("_wp.attachments[0].url", "https://c.example/a.mp4")
                    .with(crop: (0.5, 0, 0.5, 1), time: 3, hidden: true)
            ])
    }

    @Test func `Home Assistant's hide-thumbnail and content-type are read`() throws {
        let items = try found(
            #"{"attachment":{"url":"https://c.example/a","content-type":"MPEG4","hide-thumbnail":true}}"#)
        #expect(items == [try .url("attachment.url", "https://c.example/a", type: "MPEG4").with(hidden: true)])
    }

    @Test func `Capacitor's options are read from strings`() throws {
        let prefix = "iosUNNotificationAttachmentOptions"
        let items = try found(
            #"{"attachments":[{"id":"a","url":"https://c.example/a.mp4","options":{"\#(prefix)ThumbnailHiddenKey":"#
                + #""true","\#(prefix)ThumbnailTimeKey":"2.5","\#(prefix)TypeHintKey":"public.mpeg-4","#
                + #""\#(prefix)ThumbnailClippingRectKey":"{\"X\":0,\"Y\":0,\"Width\":1,\"Height\":1}"}}]}"#)
        #expect(
            items == [
                try .url("attachments[0].url", "https://c.example/a.mp4", id: "a")
                    .with(crop: (0, 0, 1, 1), time: 2.5, hidden: true)
            ])
    }

    @Test func `flutter_local_notifications' options are read`() throws {
        let items = try found(
            #"{"attachments":[{"identifier":"a","url":"https://c.example/a.jpg","hideThumbnail":false,"#
                + #""thumbnailClippingRect":{"x":0,"y":0,"width":0.5,"height":0.5}}]}"#)
        #expect(
            items == [
                try .url("attachments[0].url", "https://c.example/a.jpg", id: "a")
                    .with(crop: (0, 0, 0.5, 0.5), hidden: false)
            ])
    }

    @Test func `Swrve's second URL is the fallback of the first`() throws {
        let media = try PayloadReader.media(
            in: payload(
                #"{"_sw":{"media":{"url":"https://c.example/a.jpg","fallback_url":"https://c.example/b.jpg"}}}"#))
        #expect(media.items.map(\.fallbackURL) == ["https://c.example/b.jpg"])
        #expect(media.warnings.isEmpty)
        let only = try found(#"{"_sw":{"media":{"url":"","fallback_url":"https://c.example/b.jpg"}}}"#)
        #expect(only.map(\.path) == ["_sw.media.fallback_url"])
    }

    @Test func `ntfy's name, type and size are fields of its media`() throws {
        let media = try PayloadReader.media(
            in: payload(
                #"{"attachment_url":"https://c.example/a","attachment_name":"a.jpg","attachment_size":9,"#
                    + #""attachment_type":"image/jpeg","attachment_expires":1}"#))
        #expect(
            media.items.first?.fields.mapValues(\.description)
                == [.name: "attachment_name", .bytes: "attachment_size", .type: "attachment_type"])
    }

    typealias InvalidOption = (option: String, field: MediaLocation.Field, text: String)

    static let invalidOptions: [InvalidOption] = [
        (#""crop":{"x":0,"y":0,"width":1}"#, .clippingRect, "does not have all four numbers"),
        (#""crop":{"x":"a","y":0,"width":1,"height":1}"#, .clippingRect, "does not have all four numbers"),
        (#""crop":{"x":0.5,"y":0,"width":1,"height":1}"#, .clippingRect, "is not inside the image"),
        (#""crop":{"x":0,"y":0,"width":1e999,"height":1}"#, .clippingRect, "does not have all four numbers"),
        (#""crop":{"x":0,"y":0,"width":0,"height":1}"#, .clippingRect, "is not inside the image"),
        (#""crop":[0,0,1,1]"#, .clippingRect, "is not a rectangle"),
        (#""crop":true"#, .clippingRect, "is not a rectangle"),
        (#""time":-1"#, .thumbnailTime, "is out of range"), (#""time":1e999"#, .thumbnailTime, "is not a time"),
        (#""time":1e300"#, .thumbnailTime, "is out of range"), (#""time":"soon""#, .thumbnailTime, "is not a time"),
        (#""time":"nan""#, .thumbnailTime, "is not a time"), (#""time":"inf""#, .thumbnailTime, "is not a time"),
        (#""time":{"value":1,"timescale":0}"#, .thumbnailTime, "is not a time"),
        (#""time":{"value":1}"#, .thumbnailTime, "is not a time"), (#""time":[3]"#, .thumbnailTime, "is not a time"),
        (#""hidden":2"#, .thumbnailHidden, "neither true nor false"),
        (#""hidden":"perhaps""#, .thumbnailHidden, "neither true nor false"),
        (#""hidden":{}"#, .thumbnailHidden, "neither true nor false"),
    ]

    @Test(arguments: invalidOptions) func `An invalid option is omitted with a warning, and its path is recorded`(
        invalid: InvalidOption
    ) throws {
        let media = try PayloadReader.media(
            in: payload(
                #"{"com.urbanairship.media_attachment":{"url":"https://c.example/a.mp4","#
                    + #""options":{\#(invalid.option)}}}"#
            ))
        #expect(media.warnings.map(\.code) == [.optionInvalid])
        #expect(media.warnings.first?.message.contains(invalid.text) == true, "\(media.warnings)")
        #expect(media.warnings.first?.message.contains("com.urbanairship.media_attachment.options.") == true)
        #expect(media.items.first?.options == PayloadMediaOptions())
        #expect(media.items.first?.fields[invalid.field] != nil)
    }

    @Test(arguments: [("-0", 0.0), ("0", 0), ("1.50", 1.5), ("2e1", 20), (#""4""#, 4)])
    func `A time is read in every number notation`(literal: String, time: Double) throws {
        let items = try found(
            #"{"com.urbanairship.media_attachment":{"url":"https://c.example/a.mp4","options":{"time":\#(literal)}}}"#)
        #expect(items.first?.options.thumbnailTime == time)
        #expect(items.first?.options.thumbnailTime?.sign == .plus)
    }

    @Test(arguments: ["null", #""""#]) func `An empty option is ignored`(empty: String) throws {
        let media = try PayloadReader.media(
            in: payload(
                #"{"com.urbanairship.media_attachment":{"url":"https://c.example/a.mp4","#
                    + #""options":{"time":\#(empty),"hidden":\#(empty),"crop":\#(empty)}}}"#))
        #expect(media.warnings.isEmpty)
        #expect(media.items.first?.options == PayloadMediaOptions())
    }

    @Test func `A type that is not a string gets a warning`() throws {
        let media = try PayloadReader.media(
            in: payload(#"{"attachment":{"url":"https://c.example/a.jpg","content-type":5}}"#))
        #expect(media.warnings.map(\.code) == [.optionInvalid])
        #expect(media.items.first?.declaredType == nil)
    }
}
