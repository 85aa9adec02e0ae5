import Foundation
import RichPush
import Testing

/// A payload that was not prepared is read in its own dialect.
struct DialectContentTests {
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
    func `The media of the tutorials and of push services is found`(json: String) throws {
        #expect(try read(json)?.attachments.map(\.url) == ["https://cdn.example/a.jpg"])
    }

    @Test func `A local file is the app's`() throws {
        let attachment = try #require(try read(#"{"aps": {"movie": "intro.mp4"}}"#)?.attachments.first)
        #expect(attachment.file == "intro.mp4" && attachment.url == nil)
    }

    @Test func `Options go along, in the unit of what they are for`() throws {
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

    @Test func `A type that the payload names is the hint, and what takes its place comes next`() throws {
        let typed = try read(#"{"ab": {"att": {"url": "https://cdn.example/a", "type": "png"}}}"#)
        #expect(typed?.attachments.first?.options?.typeHint == "public.png")
        let swrve = #"{"url": "https://cdn.example/a.jpg", "fallback_url": "https://cdn.example/b.jpg"}"#
        let both = try read(#"{"_sw": {"media": \#(swrve)}}"#)
        #expect(both?.attachments.map(\.url) == ["https://cdn.example/a.jpg", "https://cdn.example/b.jpg"])
    }

    @Test func `The neutral object comes first, also when it says that there is nothing`() throws {
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
