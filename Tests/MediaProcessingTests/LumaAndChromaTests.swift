import JPEG
import Testing

@testable import MediaProcessing

struct LumaAndChromaTests {
    /// JFIF 1.02, in real numbers.
    private func expected(_ red: Int, _ green: Int, _ blue: Int) -> [Double] {
        let (r, g, b) = (Double(red), Double(green), Double(blue))
        return [
            0.299 * r + 0.587 * g + 0.114 * b, -0.1687 * r - 0.3313 * g + 0.5 * b + 128,
            0.5 * r - 0.4187 * g - 0.0813 * b + 128,
        ]
    }

    @Test func `Every colour has the luma and chroma that JFIF gives it`() {
        let steps = [0, 1, 17, 128, 200, 254, 255]
        for red in steps {
            for green in steps {
                for blue in steps {
                    let planes = [red, green, blue].map { JPEGPlane(width: 1, height: 1, samples: [UInt8($0)]) }
                    let found = [YCbCrConversion.luma(of: planes)] + YCbCrConversion.chroma(of: planes)
                    for (plane, value) in zip(found, expected(red, green, blue)) {
                        #expect(abs(Double(plane.samples[0]) - min(255, value)) < 0.6)
                    }
                }
            }
        }
    }
}
