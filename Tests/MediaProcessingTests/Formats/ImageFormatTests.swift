import MediaTypes
import Testing

@testable import MediaProcessing

struct ImageFormatTests {
    @Test func `Every image has a format, and audio and movies have none`() {
        for format in MediaFormat.allCases {
            #expect((format.imageFormat != nil) == (format.kind == .image), "\(format)")
        }
    }
}
