import MediaTypes
import Testing

@testable import MediaProcessing

struct ImageFormatTests {
    @Test func `Every image format is one of the media formats, and no other format is an image`() {
        for format in MediaFormat.allCases {
            let name = format.imageFormat.map { "\($0)" }
            #expect(name == (format.kind == .image ? "\(format)" : nil))
        }
    }
}
