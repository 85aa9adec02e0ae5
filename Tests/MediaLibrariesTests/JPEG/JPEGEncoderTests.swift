import TestSupport
import Testing

@testable import MediaLibraries

struct JPEGEncoderTests {
    @Test(arguments: [true, false])
    func `An encoded JPEG decodes to its source and begins with a JFIF header`(halves: Bool) throws {
        // A horizontal ramp of luma, constant chroma.
        let (width, height) = (64, 40)
        let luma = (0..<(width * height)).map { UInt8($0 % width * 4) }
        let pixels: [UInt8] = luma.flatMap { shade -> [UInt8] in [shade, 90, 160] }
        let bytes = try JPEGEncoder.encode(
            pixels: pixels, width: width, height: height, quality: 95, halvesChroma: halves)
        #expect(bytes.prefix(4) == [0xFF, 0xD8, 0xFF, 0xE0])
        let planes = try JPEGFile(bytes: bytes).reference(eighths: 8)
        #expect(planes.map(\.width) == (halves ? [64, 32, 32] : [64, 64, 64]))
        let differences = zip(planes[0].samples, luma).map { abs(Int($0.0) - Int($0.1)) }
        #expect((differences.max() ?? 255) < 8)
        #expect(planes[1].samples.allSatisfy { abs(Int($0) - 90) < 3 })
        #expect(planes[2].samples.allSatisfy { abs(Int($0) - 160) < 3 })
    }
}
