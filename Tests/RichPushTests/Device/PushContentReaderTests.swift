import Foundation
import RichPush
import Testing

/// A payload that was not prepared is read in its own dialect.
struct PushContentReaderTests {
    private func read(_ json: String) throws -> PushContent? {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return PushContent(userInfo: try #require(object as? [String: Any]))
    }

    @Test(arguments: [
        #"{"aps": {"alert": "Hi", "mutable-content": 1}, "attach": "https://cdn.example/a.jpg"}"#,
        #"{"aps": {"alert": "Hi", "mutable-content": 1, "image": "https://cdn.example/a.jpg"}}"#,
        #"{"aps": {"category": "podcast"}, "podcast-image": "https://cdn.example/a.jpg", "podcast-guest": "Ada"}"#,
        #"{"aps": {"mutable-content": "1", "imageUrl": "https://cdn.example/a.jpg"}}"#,
        #"{"aps": {"mutable-content": "1"}, "imageUrl": "https://cdn.example/a.jpg"}"#,
        #"{"fcm_options": {"image": "https://cdn.example/a.jpg"}}"#,
        #"{"krt_attributes": "{\"attachment_url\":\"https://cdn.example/a.jpg\"}"}"#,
    ])
    func `The media of tutorials and push services is found`(json: String) throws {
        #expect(try read(json)?.attachments.map(\.url) == ["https://cdn.example/a.jpg"])
    }

    @Test func `A file name refers to a file of the app bundle`() throws {
        let attachment = try #require(try read(#"{"aps": {"movie": "intro.mp4"}}"#)?.attachments.first)
        #expect(attachment.file == "intro.mp4" && attachment.url == nil)
    }

    @Test func `Options are read, and the time has the unit of the media type`() throws {
        func time(_ url: String) throws -> ThumbnailTime? {
            let options = #"{"time": 15, "hidden": true, "crop": {"x": 0.25, "y": 0.25, "width": 0.5, "height": 0.5}}"#
            let json = #"{"com.urbanairship.media_attachment": {"url": "\#(url)", "options": \#(options)}}"#
            let read = try #require(try read(json)?.attachments.first?.options)
            #expect(read.thumbnailHidden == true)
            #expect(read.thumbnailClippingRect == (try ClippingRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)))
            return read.thumbnailTime
        }
        #expect(try time("https://cdn.example/a.mp4") == .movie(MovieTime(seconds: 15)))
        #expect(try time("https://cdn.example/a.gif?x=1") == .frame(15))
        #expect(try time("https://cdn.example/a.jpg") == nil)
        #expect(try time("https://cdn.example/a") == nil)
    }

    @Test func `A declared type becomes the type hint, and a fallback URL the next attachment`() throws {
        let typed = try read(#"{"ab": {"att": {"url": "https://cdn.example/a", "type": "png"}}}"#)
        #expect(typed?.attachments.first?.options?.typeHint == "public.png")
        let swrve = #"{"url": "https://cdn.example/a.jpg", "fallback_url": "https://cdn.example/b.jpg"}"#
        let both = try read(#"{"_sw": {"media": \#(swrve)}}"#)
        #expect(both?.attachments.map(\.url) == ["https://cdn.example/a.jpg", "https://cdn.example/b.jpg"])
    }

    @Test func `The neutral object takes precedence, also when it has no attachments`() throws {
        let own = #""attach": "https://cdn.example/a.jpg""#
        let neutral = #"{"attachments": [{"url": "https://push.example/b.jpg"}]}"#
        #expect(
            try read(#"{\#(own), "attachprep": \#(neutral)}"#)?.attachments.map(\.url) == ["https://push.example/b.jpg"]
        )
        #expect(try read(#"{\#(own), "attachprep": {"attachments": []}}"#) == nil)
        #expect(try read(#"{\#(own), "attachprep": {"attachments": [7]}}"#)?.attachments.count == 1)
        #expect(try read(#"{\#(own), "attachprep": 7}"#)?.attachments.count == 1)
    }
}

/// The `userInfo` of a notification is converted back to JSON.
struct UserInfoTests {
    private func read(_ json: String) throws -> PayloadValue {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return PayloadValue(userInfo: try #require(object as? [String: Any]))
    }

    @Test func `Booleans and numbers are distinguished`() throws {
        let value = try read(
            #"{"yes": true, "no": false, "one": 1, "zero": 0, "half": 0.5, "most": 18446744073709551615}"#)
        #expect(value["yes"] == .bool(true) && value["no"] == .bool(false))
        #expect(value["one"] == .number("1") && value["zero"] == .number("0"))
        #expect(value["half"] == .number("0.5"))
        #expect(value["most"] == .number("18446744073709551615"))
    }

    @Test func `Booleans and numbers are distinguished in dictionaries made by programs`() {
        let value = PayloadValue(userInfo: [
            "yes": true, "one": 1, "boxed": NSNumber(value: true), "number": NSNumber(value: 1),
            "float": NSNumber(value: 1.5), "int8": NSNumber(value: Int32(7)),
        ])
        #expect(value["yes"] == .bool(true) && value["boxed"] == .bool(true))
        #expect(value["one"] == .number("1") && value["number"] == .number("1") && value["int8"] == .number("7"))
        #expect(value["float"] == .number("1.5"))
    }

    @Test func `Null, strings, arrays and dictionaries keep their structure`() throws {
        let value = try read(#"{"b": [1, null, {"c": "x"}], "a": null}"#)
        #expect(
            value
                == .object([
                    PayloadMember("a", .null),
                    PayloadMember("b", .array([.number("1"), .null, .object([PayloadMember("c", .string("x"))])])),
                ]))
    }

    @Test func `Values that JSON cannot represent are omitted`() {
        let value = PayloadValue(userInfo: [
            "date": Date(), "data": Data([1]), "nan": Double.nan, "infinite": Double.infinity, 7: "a key",
            "text": "kept",
            "list": [Date(), 1],
        ])
        #expect(
            value == .object([PayloadMember("list", .array([.number("1")])), PayloadMember("text", .string("kept"))]))
    }

    @Test func `Values nested deeper than the limit are omitted`() {
        var nested: Any = "deep"
        for _ in 0..<1_000 { nested = ["a": nested] }
        var value: PayloadValue? = PayloadValue(userInfo: ["a": nested])
        var depth = 0
        while let next = value?["a"] { (value, depth) = (next, depth + 1) }
        #expect(depth == Limits.payloadDepthMax - 1)
    }
}
