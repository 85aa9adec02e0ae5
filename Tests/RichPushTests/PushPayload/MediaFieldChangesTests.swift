import AttachPrepModel
import PushPayload
import RichPush
import Testing

/// A dialect's own options get the manifest's values and keep their form.
struct MediaFieldChangesTests {
    private func airship(_ options: String) -> String {
        #"{"com.urbanairship.media_attachment":{"url":"https://c/a","options":\#(options)}}"#
    }

    private func written(
        _ options: String, _ type: AttachmentType = .gif, _ set: (inout AttachmentOptions) -> Void
    ) throws -> String {
        let written = try RewrittenPayload(airship(options), [PreparedSample.ready(type, options: set)])
        let url = "https://push.example/a/attachment.\(type.fileExtension)"
        let (before, after) = try #require(airship("|").split(at: "|"))
        let text = written.withoutNeutralObject
        try #require(text.hasPrefix(before.replacing("https://c/a", with: url)) && text.hasSuffix(after))
        return String(text.dropFirst(before.count - "https://c/a".count + url.count).dropLast(after.count))
    }

    private func rect(_ x: Double, _ y: Double, _ width: Double, _ height: Double) throws -> ClippingRect {
        try ClippingRect(x: x, y: y, width: width, height: height)
    }

    @Test func `Options with unchanged values keep their serialization`() throws {
        let options = #"{ "crop" : {"width":5e-1, "height":1.0,"x":0.250,"y":-0} , "time":2.0, "hidden": true }"#
        let crop = try rect(0.25, 0, 0.5, 1)
        let result = try written(options) {
            $0.thumbnailClippingRect = crop
            $0.thumbnailTime = .frame(2)
            $0.thumbnailHidden = true
        }
        #expect(result == options)
    }

    @Test func `Changing one side of a crop keeps the other sides unchanged`() throws {
        let crop = try rect(0.25, 0, 0.25, 1)
        #expect(
            try written(#"{"crop":{"x":0.250,"y":0.0,"width":0.5,"height":1.0}}"#) { $0.thumbnailClippingRect = crop }
                == #"{"crop":{"x":0.250,"y":0.0,"width":0.25,"height":1.0}}"#)
    }

    @Test(arguments: [
        #"{"crop":{"x":0,"y":0,"width":0.5,"height":1},"n":1}"#, #"{"crop":{"x":0,"y":0,"width":2,"height":1},"n":1}"#,
        #"{"crop":null,"n":1}"#, #"{"n":1,"time":5}"#, #"{"time":"late","n":1}"#, #"{"n":1,"hidden":"maybe"}"#,
        #"{"hidden":true,"n":1}"#,
    ])
    func `Options that no longer apply and invalid options are removed`(options: String) throws {
        #expect(try written(options) { _ in } == #"{"n":1}"#)
    }

    @Test func `An options object that becomes empty is removed`() throws {
        let result = try RewrittenPayload(
            airship(#"{"crop":{"x":0,"y":0,"width":0.5,"height":1},"time":3}"#), [PreparedSample.ready()])
        #expect(
            result.withoutNeutralObject
                == #"{"com.urbanairship.media_attachment":{"url":"https://push.example/a/attachment.jpg"}}"#)
    }

    /// All of Airship's media share one set of options. Source: airship.com/docs/api/urban-airship, iOS override.
    @Test func `An image beside a movie keeps the movie's options`() throws {
        let payload =
            #"{"com.urbanairship.media_attachment":{"url":["https://c/a.jpg","https://c/b.mp4"],"#
            + #""options":{"time":1}}}"#
        let written = try RewrittenPayload(
            payload,
            [
                PreparedSample.ready(.jpeg, at: "a"),
                PreparedSample.ready(.mpeg4, at: "b") { $0.thumbnailTime = .movie(MovieTime(seconds: 1)) },
            ])
        #expect(try written.value["com.urbanairship.media_attachment"]?["options"]?["time"]?.double == 1)
        #expect(written.warnings.isEmpty)
    }

    @Test func `Shared options follow the media whose thumbnail is shown`() throws {
        let payload =
            #"{"com.urbanairship.media_attachment":{"urls":[{"url":"https://c/a.gif","url_id":"one"},"#
            + #"{"url":"https://c/b.mp4","url_id":"two"}],"thumbnail_id":"two","options":{"time":1}}}"#
        let written = try RewrittenPayload(
            payload,
            [
                PreparedSample.ready(.gif, at: "a") { $0.thumbnailTime = .frame(7) },
                PreparedSample.ready(.mpeg4, at: "b") { $0.thumbnailTime = .movie(MovieTime(seconds: 1)) },
            ])
        #expect(try written.value["com.urbanairship.media_attachment"]?["options"]?["time"]?.double == 1)
    }

    @Test func `An option that applies to none of the media is removed with a note`() throws {
        let written = try RewrittenPayload(airship(#"{"time":1,"n":1}"#), [PreparedSample.ready()])
        #expect(written.warnings.map(\.code) == [.optionRemoved])
        #expect(written.warnings.first?.level == .note)
        #expect(
            written.warnings.first?.message
                == "com.urbanairship.media_attachment.options.time is removed because it has no meaning for "
                + "image/jpeg.")
    }

    /// https://github.com/invertase/notifee/pull/65: `image` is the only image of the payload.
    @Test func `Notifee's image replaces a failed attachment`() throws {
        let payload =
            #"{"notifee_options":{"image":"https://c/b.jpg","ios":{"attachments":[{"url":"https://c/a.mp4","#
            + #""thumbnailTime":3}]}}}"#
        let media = try PayloadReader.media(in: PayloadDocument(Array(payload.utf8)).value)
        #expect(media.items.map(\.fallbackURL) == ["https://c/b.jpg"])
        let written = try RewrittenPayload(payload, [.fallback(PreparedSample.manifest())])
        #expect(
            written.withoutNeutralObject
                == #"{"notifee_options":{"ios":{"attachments":[{"url":"https://push.example/a/attachment.jpg"}]}}}"#)
    }

    /// https://github.com/Swrve/swrve-ios-sdk: SwrveNotificationManager writes `_sd` when the fallback is attached.
    @Test(arguments: [
        (#""_sd":"app://movie","#, #"{"_sd":"app://still","_sw":{"media":{"url":"U"}}}"#),
        ("", #"{"_sw":{"media":{"url":"U"}},"_sd":"app://still"}"#),
    ])
    func `Swrve's fallback replaces the deep link`(before: String, after: String) throws {
        let payload =
            #"{\#(before)"_sw":{"media":{"url":"https://c/a","fallback_url":"https://c/b","#
            + #""fallback_sd":"app://still"}}}"#
        let written = try RewrittenPayload(payload, [.fallback(PreparedSample.manifest())])
        #expect(
            written.withoutNeutralObject == after.replacing("U", with: "https://push.example/a/attachment.jpg"))
    }

    @Test func `An explicit false for a hidden thumbnail is kept`() throws {
        #expect(try written(#"{"hidden":false}"#) { _ in } == #"{"hidden":false}"#)
    }

    @Test(arguments: [
        ("3", "4"), ("3.0", "4"), (#""3""#, #""4""#), (#"{"value":3,"timescale":1}"#, "4"),
    ])
    func `A frame time is written as a number`(found: String, result: String) throws {
        #expect(try written(#"{"time":\#(found)}"#) { $0.thumbnailTime = .frame(4) } == #"{"time":\#(result)}"#)
    }

    @Test(arguments: [
        ("3", "2.5"), (#""3""#, #""2.5""#), ("2.50", "2.50"), ("2.5001", "2.5001"),
        (#"{"value":3,"timescale":1}"#, #"{"value":1500,"timescale":600,"epoch":0,"flags":1}"#),
        (#"{"timescale":1000,"value":2500}"#, #"{"timescale":1000,"value":2500}"#),
    ])
    func `A movie's time keeps its form`(found: String, result: String) throws {
        #expect(
            try written(#"{"time":\#(found)}"#, .mpeg4) { $0.thumbnailTime = .movie(MovieTime(seconds: 2.5)) }
                == #"{"time":\#(result)}"#)
    }

    @Test(arguments: [("1", "0"), (#""yes""#, #""false""#), ("true", "false")])
    func `A boolean keeps its form`(found: String, result: String) throws {
        #expect(
            try written(#"{"hidden":\#(found)}"#) { $0.thumbnailHidden = false } == #"{"hidden":\#(result)}"#)
    }

    @Test func `A Core Graphics rectangle keeps its form, and the type hint follows the new type`() throws {
        let crop = try rect(0.25, 0, 0.5, 1)
        let payload =
            #"{"notifee_options":{"ios":{"attachments":[{"url":"https://c/a","typeHint":"org.webmproject.webp","#
            + #""thumbnailClippingRect":{"X":0,"Y":0,"Width":1,"Height":"1"}}]}}}"#
        let written = try RewrittenPayload(payload, [PreparedSample.ready(.png) { $0.thumbnailClippingRect = crop }])
        #expect(
            written.withoutNeutralObject
                == payload.replacing("https://c/a", with: "https://push.example/a/attachment.png")
                .replacing("org.webmproject.webp", with: "public.png").replacing(#""X":0"#, with: #""X":0.25"#)
                .replacing(#""Width":1"#, with: #""Width":0.5"#))
    }

    @Test func `Options in a JSON string stay in the string`() throws {
        let crop = try rect(0.25, 0, 0.5, 1)
        #expect(
            try written(#"{"crop":"{\"x\":\"0\",\"y\":0,\"width\":0.5,\"height\":1.0}"}"#) {
                $0.thumbnailClippingRect = crop
            } == #"{"crop":"{\"x\":\"0.25\",\"y\":0,\"width\":0.5,\"height\":1.0}"}"#)
    }

    @Test func `A computed crop replaces an invalid one`() throws {
        let crop = try rect(0.25, 0, 0.5, 1)
        #expect(
            try written(#"{"crop":"smart"}"#) { $0.thumbnailClippingRect = crop }
                == #"{"crop":{"x":0.25,"y":0,"width":0.5,"height":1}}"#)
    }
}

extension String {
    fileprivate func split(at mark: Character) -> (String, String)? {
        guard let position = firstIndex(of: mark) else { return nil }
        return (String(self[..<position]), String(self[index(after: position)...]))
    }
}
