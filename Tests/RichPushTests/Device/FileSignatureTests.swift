import Foundation
import RichPush
import TestSupport
import Testing

/// What a file is by its first bytes.
struct FileSignatureTests {
    @Test(arguments: [
        ("grid.jpg", AttachmentType.jpeg), ("grid.png", .png), ("counter.gif", .gif), ("tone.aiff", .aiff),
        ("tone.wav", .wave), ("cover.mp3", .mp3), ("tone.m4a", .mpeg4Audio), ("clock.mpg", .mpeg),
        ("clock.mp4", .mpeg4), ("clock.avi", .avi),
    ])
    func `The samples are what they are`(name: String, type: AttachmentType) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample(name)))
        #expect(AttachmentType(beginning: bytes) == type)
    }

    @Test(arguments: ["", "GIF8", "<!DOCTYPE html>", "RIFF\u{0}\u{0}\u{0}\u{0}WEBPVP8 ", "\u{0}\u{0}\u{0} ftypheic"])
    func `What is none of them, or too short, is nothing`(text: String) {
        #expect(AttachmentType(beginning: Array(text.utf8)) == nil)
    }
}
