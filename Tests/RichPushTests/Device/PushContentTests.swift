import Foundation
import RichPush
import Testing

/// The neutral object on a device: what can be read is used.
struct PushContentTests {
    private func read(_ object: String) throws -> PushContent? {
        let json = try JSONSerialization.jsonObject(with: Data(#"{"attachprep": \#(object)}"#.utf8))
        return PushContent(userInfo: try #require(json as? [String: Any]))
    }

    private static let digest = String(repeating: "aB", count: 32)

    @Test func `Everything in it is read`() throws {
        let content = try #require(
            try read(
                """
                {"attachments": [{"id": "cat", "url": "https://cdn.example/a.mp4", "bytes": 61220,
                  "sha256": "\(Self.digest)",
                  "options": {"typeHint": "public.mpeg-4", "thumbnailHidden": false,
                    "thumbnailClippingRect": {"X": 0.25, "Y": 0, "Width": 0.5, "Height": 1},
                    "thumbnailTime": {"value": 1800, "timescale": 600, "epoch": 0, "flags": 1}},
                  "thumbnail": {"url": "https://cdn.example/t.jpg", "bytes": 9120, "sha256": "\(Self.digest)"}}],
                 "receipt": {"url": "https://push.example/v1/receipts", "token": "t"}}
                """))
        var expected = PushAttachment(id: "cat")
        expected.url = "https://cdn.example/a.mp4"
        expected.bytes = 61_220
        expected.sha256 = Self.digest.lowercased()
        var options = PushAttachmentOptions()
        options.typeHint = "public.mpeg-4"
        options.thumbnailHidden = false
        options.thumbnailClippingRect = try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)
        options.thumbnailTime = .movie(MovieTime(seconds: 3))
        expected.options = options
        var thumbnail = PushThumbnail(url: "https://cdn.example/t.jpg")
        thumbnail.bytes = 9_120
        thumbnail.sha256 = Self.digest.lowercased()
        expected.thumbnail = thumbnail
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        #expect(content == PushContent(attachments: [expected], receipt: receipt))
    }

    @Test func `What an encoder writes is read back`() throws {
        var attachment = PushAttachment(id: "0")
        attachment.url = "https://cdn.example/a.gif"
        var options = PushAttachmentOptions()
        options.typeHint = "com.compuserve.gif"
        options.thumbnailTime = .frame(7)
        options.thumbnailClippingRect = try ClippingRect(x: 0, y: 0.125, width: 1, height: 0.5)
        attachment.options = options
        let content = PushContent(attachments: [attachment])
        let json = String(decoding: try JSONEncoder().encode(content), as: UTF8.self)
        #expect(try read(json) == content)
    }

    @Test(arguments: [
        "7", "null", "{}", #"{"url": 7}"#, #"{"url": "ftp://cdn.example/a.jpg"}"#, #"{"url": "file:///etc/passwd"}"#,
        #"{"url": "https://"}"#, #"{"url": "a.jpg"}"#, #"{"url": "javascript:alert(1)"}"#, #"{"id": "x"}"#, "[]",
    ])
    func `An attachment that cannot be read does not take the others with it`(broken: String) throws {
        let content = try read(#"{"attachments": [\#(broken), {"url": "https://cdn.example/b.jpg"}]}"#)
        #expect(content?.attachments.map(\.url) == ["https://cdn.example/b.jpg"])
        #expect(content?.attachments.map(\.id) == ["1"])
    }

    @Test(arguments: [
        #""thumbnailClippingRect": {"X": 0.5, "Y": 0, "Width": 0.6, "Height": 1}"#,
        #""thumbnailClippingRect": [0, 0, 1, 1]"#,
        #""thumbnailClippingRect": {"X": "0", "Y": 0, "Width": 1, "Height": 1}"#, #""thumbnailTime": -1"#,
        #""thumbnailTime": 1.5"#, #""thumbnailTime": {"value": 1, "timescale": 0, "flags": 1}"#,
        #""thumbnailTime": {"value": 1e300, "timescale": 600, "flags": 1}"#, #""thumbnailTime": "3""#,
        #""thumbnailTime": {"value": 1, "timescale": 600, "flags": 0}"#, #""other": {"a": [1]}"#,
    ])
    func `An option that cannot be read does not take the others with it`(broken: String) throws {
        let options = #"{\#(broken), "typeHint": "public.jpeg", "thumbnailHidden": true}"#
        let content = try read(#"{"attachments": [{"url": "https://cdn.example/b.jpg", "options": \#(options)}]}"#)
        var expected = PushAttachmentOptions()
        expected.typeHint = "public.jpeg"
        expected.thumbnailHidden = true
        #expect(content?.attachments.first?.options == expected)
    }

    @Test(arguments: [
        #""bytes": -1"#, #""bytes": 1.5"#, #""bytes": "61220""#, #""bytes": 1e30"#, #""bytes": 0"#, #""bytes": true"#,
        #""sha256": "abc""#, #""sha256": 7"#, #""thumbnail": "https://cdn.example/t.jpg""#,
        #""thumbnail": {"url": "http:"}"#, #""options": []"#,
    ])
    func `A fact of the wrong form says nothing`(broken: String) throws {
        let content = try read(#"{"attachments": [{"url": "https://cdn.example/b.jpg", \#(broken)}]}"#)
        let attachment = try #require(content?.attachments.first)
        #expect(attachment.bytes == nil && attachment.sha256 == nil && attachment.thumbnail == nil)
        #expect(attachment.options ?? PushAttachmentOptions() == PushAttachmentOptions())
    }

    @Test(arguments: [
        #"{"url": "https://push.example/r"}"#, #"{"token": "t"}"#, #"{"url": "nowhere", "token": "t"}"#,
        #"{"url": "https://push.example/r", "token": ""}"#, "true",
    ])
    func `A receipt needs an address and a token`(receipt: String) throws {
        #expect(try read(#"{"attachments": [], "receipt": \#(receipt)}"#) == nil)
    }

    @Test func `A receipt alone is enough`() throws {
        let content = try read(#"{"receipt": {"url": "https://push.example/r", "token": "t"}}"#)
        #expect(content?.attachments == [])
        #expect(content?.receipt?.token == "t")
    }

    @Test func `A list without end is cut`() throws {
        let items = (0..<1_000).map { #"{"url": "https://cdn.example/\#($0).jpg"}"# }.joined(separator: ",")
        #expect(try read(#"{"attachments": [\#(items)]}"#)?.attachments.count == Limits.payloadMediaMax)
    }

    @Test func `A payload without any of it is none`() {
        #expect(PushContent(userInfo: [:]) == nil)
        #expect(PushContent(userInfo: ["aps": ["alert": "Hello"]]) == nil)
    }
}
