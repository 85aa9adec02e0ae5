import Foundation
import RichPush
import Testing

/// The neutral object as read on a device: valid parts are used, invalid ones ignored.
struct PushContentTests {
    private func read(_ object: String) throws -> PushContent? {
        let json = try JSONSerialization.jsonObject(with: Data(#"{"attachprep": \#(object)}"#.utf8))
        return PushContent(userInfo: try #require(json as? [String: Any]))
    }

    private static let digest = String(repeating: "aB", count: 32)

    @Test func `Every member of the neutral object is read`() throws {
        let content = try #require(
            try read(
                """
                {"attachments": [{"id": "cat", "url": "https://cdn.example/a.mp4", "bytes": 61220,
                  "sha256": "\(Self.digest)",
                  "options": {"typeHint": "public.mpeg-4", "thumbnailHidden": false,
                    "thumbnailClippingRect": {"X": 0.25, "Y": 0, "Width": 0.5, "Height": 1},
                    "thumbnailTime": {"value": 1800, "timescale": 600, "epoch": 0, "flags": 1}},
                  "smaller": {"url": "https://cdn.example/s.jpg", "bytes": 20480},
                  "thumbnail": {"url": "https://cdn.example/t.jpg", "bytes": 9120, "sha256": "\(Self.digest)"}}],
                 "avatar": {"url": "https://cdn.example/v.jpg"},
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
        var thumbnail = PushPicture(url: "https://cdn.example/t.jpg")
        thumbnail.bytes = 9_120
        thumbnail.sha256 = Self.digest.lowercased()
        expected.thumbnail = thumbnail
        expected.smaller = PushPicture(url: "https://cdn.example/s.jpg")
        expected.smaller?.bytes = 20_480
        let avatar = PushPicture(url: "https://cdn.example/v.jpg")
        let receipt = PushReceipt(url: "https://push.example/v1/receipts", token: "t")
        #expect(content == PushContent(attachments: [expected], avatar: avatar, receipt: receipt))
    }

    @Test func `Encoded content is read back unchanged`() throws {
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
    func `An invalid attachment does not affect the others`(broken: String) throws {
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
    func `An invalid option does not affect the others`(broken: String) throws {
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
    func `A member of the wrong type is ignored`(broken: String) throws {
        let content = try read(#"{"attachments": [{"url": "https://cdn.example/b.jpg", \#(broken)}]}"#)
        let attachment = try #require(content?.attachments.first)
        #expect(attachment.bytes == nil && attachment.sha256 == nil && attachment.thumbnail == nil)
        #expect(attachment.options ?? PushAttachmentOptions() == PushAttachmentOptions())
    }

    @Test(arguments: [
        #"{"url": "https://push.example/r"}"#, #"{"token": "t"}"#, #"{"url": "nowhere", "token": "t"}"#,
        #"{"url": "https://push.example/r", "token": ""}"#, "true",
    ])
    func `A receipt without a valid URL and a token is ignored`(receipt: String) throws {
        #expect(try read(#"{"attachments": [], "receipt": \#(receipt)}"#) == nil)
    }

    @Test func `A payload with a receipt and no attachments is read`() throws {
        let content = try read(#"{"receipt": {"url": "https://push.example/r", "token": "t"}}"#)
        #expect(content?.attachments == [])
        #expect(content?.receipt?.token == "t")
    }

    @Test func `A long list of attachments is truncated to the limit`() throws {
        let items = (0..<1_000).map { #"{"url": "https://cdn.example/\#($0).jpg"}"# }.joined(separator: ",")
        #expect(try read(#"{"attachments": [\#(items)]}"#)?.attachments.count == Limits.payloadMediaMax)
    }

    @Test func `A payload without media or a receipt has no push content`() {
        #expect(PushContent(userInfo: [:]) == nil)
        #expect(PushContent(userInfo: ["aps": ["alert": "Hello"]]) == nil)
    }
}

/// The options dictionary for `UNNotificationAttachment`. Without that framework, keys are the constants' names.
struct AttachmentDictionaryTests {
    private let prefix = "UNNotificationAttachmentOptions"

    private func options(_ time: ThumbnailTime?) throws -> PushAttachmentOptions {
        var options = PushAttachmentOptions()
        options.typeHint = "anything"
        options.thumbnailHidden = true
        options.thumbnailClippingRect = try ClippingRect(x: 0, y: 0.25, width: 1, height: 0.5)
        options.thumbnailTime = time
        return options
    }

    @Test func `The type hint is the UTI of the file`() {
        for type in AttachmentType.allCases {
            let dictionary = PushAttachmentOptions().dictionary(for: DeviceFileType(type))
            #expect(dictionary.count == 1)
            #expect(dictionary["\(prefix)TypeHintKey"] as? String == type.uti)
        }
    }

    @Test func `The clipping rectangle has the form of CGRectCreateDictionaryRepresentation`() throws {
        let dictionary = try options(nil).dictionary(for: DeviceFileType(.jpeg))
        let rectangle = dictionary["\(prefix)ThumbnailClippingRectKey"] as? [String: Double]
        #expect(rectangle == ["X": 0, "Y": 0.25, "Width": 1, "Height": 0.5])
        #expect(dictionary["\(prefix)ThumbnailHiddenKey"] as? Bool == true)
    }

    @Test func `A movie's thumbnail time is a CMTime, a GIF's a frame, and the other form is dropped`() throws {
        let key = "\(prefix)ThumbnailTimeKey"
        let movie = try options(.movie(MovieTime(seconds: 3)))
        let time = try #require(movie.dictionary(for: DeviceFileType(.mpeg4))[key] as? [String: any Sendable])
        #expect(time["value"] as? Int64 == 1_800 && time["timescale"] as? Int32 == 600)
        #expect(time["epoch"] as? Int64 == 0 && time["flags"] as? UInt32 == 1)
        #expect(try options(.frame(7)).dictionary(for: DeviceFileType(.gif))[key] as? Int == 7)
        #expect(movie.dictionary(for: DeviceFileType(.gif))[key] == nil)
        #expect(try options(.frame(7)).dictionary(for: DeviceFileType(.mpeg4))[key] == nil)
        #expect(try options(.frame(7)).dictionary(for: DeviceFileType(.jpeg))[key] == nil)
    }

    @Test func `Audio has no thumbnail options`() throws {
        #expect(try options(.frame(0)).dictionary(for: DeviceFileType(.mp3)).count == 1)
    }
}
