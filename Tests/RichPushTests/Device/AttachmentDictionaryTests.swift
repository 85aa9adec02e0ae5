import RichPush
import Testing

/// The options as `UNNotificationAttachment` wants them. Without that framework the constants' names stand for them.
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

    @Test func `The type hint is the file's`() {
        for type in AttachmentType.allCases {
            let dictionary = PushAttachmentOptions().dictionary(for: type)
            #expect(dictionary.count == 1)
            #expect(dictionary["\(prefix)TypeHintKey"] as? String == type.uti)
        }
    }

    @Test func `A rectangle is what CGRectCreateDictionaryRepresentation makes`() throws {
        let dictionary = try options(nil).dictionary(for: .jpeg)
        let rectangle = dictionary["\(prefix)ThumbnailClippingRectKey"] as? [String: Double]
        #expect(rectangle == ["X": 0, "Y": 0.25, "Width": 1, "Height": 0.5])
        #expect(dictionary["\(prefix)ThumbnailHiddenKey"] as? Bool == true)
    }

    @Test func `A movie has a CMTime, a GIF a frame, and neither the other's`() throws {
        let key = "\(prefix)ThumbnailTimeKey"
        let movie = try options(.movie(MovieTime(seconds: 3)))
        let time = try #require(movie.dictionary(for: .mpeg4)[key] as? [String: any Sendable])
        #expect(time["value"] as? Int64 == 1_800 && time["timescale"] as? Int32 == 600)
        #expect(time["epoch"] as? Int64 == 0 && time["flags"] as? UInt32 == 1)
        #expect(try options(.frame(7)).dictionary(for: .gif)[key] as? Int == 7)
        #expect(movie.dictionary(for: .gif)[key] == nil)
        #expect(try options(.frame(7)).dictionary(for: .mpeg4)[key] == nil)
        #expect(try options(.frame(7)).dictionary(for: .jpeg)[key] == nil)
    }

    @Test func `A sound has no thumbnail`() throws {
        #expect(try options(.frame(0)).dictionary(for: .mp3).count == 1)
    }
}
