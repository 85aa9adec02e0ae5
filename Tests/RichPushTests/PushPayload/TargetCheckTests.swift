import PushPayload
import RichPush
import Testing

struct TargetCheckTests {
    private func codes(_ text: String, targets: Set<MediaTarget> = [.ios]) throws -> [PayloadWarning.Code] {
        let document = try PayloadDocument(Array(text.utf8))
        let media = try PayloadReader.media(in: document.value, targets: targets)
        return
            (PayloadCheck.warnings(for: document.value, media: media, targets: targets)
            + PayloadCheck.sizeWarnings(for: document, media: media)).map(\.code)
    }

    private func fcm(_ image: String, _ members: String = "") -> String {
        #"{"message":{"token":"t","notification":{"title":"x","image":"\#(image)"},"#
            + #""apns":{"payload":{"aps":{"mutable-content":1}}}\#(members)}}"#
    }

    @Test(arguments: [("a.jpg", false), ("a.png", false), ("a.bmp", false), ("a.gif", true), ("a.mp4", true)])
    func `FCM's shared image of a type that Android does not show is reported`(name: String, isReported: Bool) throws {
        #expect(try codes(fcm("https://c.example/\(name)")).contains(.androidType) == isReported)
    }

    @Test func `Media of a system that is not named is reported`() throws {
        let text = #"{"ios_attachments":{"a":"https://c.example/a.jpg"},"big_picture":"https://c.example/a.jpg"}"#
        #expect(try codes(text) == [.strayMedia])
        #expect(try codes(text, targets: [.ios, .android]).isEmpty)
    }

    @Test func `An image among the headers of web push is reported as ignored`() throws {
        let text = fcm("https://c.example/a.jpg", #","webpush":{"headers":{"image":"https://c.example/a.jpg"}}"#)
        #expect(try codes(text) == [.mediaIgnored])
    }

    @Test func `An image that is known to be too large for Android is reported`() throws {
        let neutral = #""attachprep":{"attachments":[{"id":"0","url":"https://c.example/a.jpg","bytes":1048577}]}"#
        let text =
            #"{"notification":{"title":"x","image":"https://c.example/a.jpg"},"topic":"t","#
            + #""apns":{"payload":{"aps":{"mutable-content":1},\#(neutral)}}}"#
        #expect(try codes(text) == [.androidTooLarge])
        #expect(try codes(text.replacing("1048577", with: "1048576")).isEmpty)
    }

    @Test func `Web push JSON and Live Activities need no service extension`() throws {
        #expect(try codes(#"{"title":"t","image":"https://c.example/a.jpg"}"#).isEmpty)
        #expect(try codes(#"{"aps":{"content-state":{"image":"https://c.example/a.jpg"}}}"#).isEmpty)
    }

    @Test(arguments: [(2_900, []), (2_901, [PayloadWarning.Level.warning]), (3_993, [.warning]), (3_994, [.error])])
    func `Web push is limited to what fits into one encrypted record`(
        bytes: Int, levels: [PayloadWarning.Level]
    ) throws {
        let empty = #"{"title":"","image":"https://c.example/a.jpg"}"#
        let title = String(repeating: "a", count: bytes - empty.utf8.count)
        let document = try PayloadDocument(Array(empty.replacing(#""title":"""#, with: #""title":"\#(title)""#).utf8))
        let media = try PayloadReader.media(in: document.value)
        #expect(PayloadCheck.sizeWarnings(for: document, media: media).map(\.level) == levels)
    }

    /// Each system receives the shared members and its own block.
    @Test func `An FCM message is measured for each system, and a larger whole is a note`() throws {
        let text = String(repeating: "a", count: 3_000)
        let blocks =
            #","android":{"data":{"a":"\#(text)"}},"webpush":{"headers":{"x":"\#(text)"},"data":{"a":"\#(text)"}}"#
        let document = try PayloadDocument(Array(fcm("https://c.example/a.jpg", blocks).utf8))
        let media = try PayloadReader.media(in: document.value)
        let warnings = PayloadCheck.sizeWarnings(for: document, media: media)
        #expect(warnings.map(\.level) == [.note] && warnings.map(\.code) == [.tooLarge])
        let data = #","data":{"b":"\#(String(repeating: "b", count: 1_000))"}"#
        let shared = fcm("https://c.example/a.jpg", blocks + data)
        let larger = try PayloadDocument(Array(shared.utf8))
        let over = PayloadCheck.sizeWarnings(for: larger, media: try PayloadReader.media(in: larger.value))
        #expect(over.map(\.level) == [.error, .error])
        #expect(over.first?.message.contains("for Android") == true)
    }
}
