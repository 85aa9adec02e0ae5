import RichPush
import Testing

/// Numbers as nobody sane would write them: in manifests, options and payloads (issue 18).
@Suite struct ForeignNumberTests {
    @Test(arguments: [1e300, -1e300, .infinity, -.infinity, .nan, 1e16])
    func `A time of any size is a time of a movie`(seconds: Double) {
        let time = MovieTime(seconds: seconds)
        #expect(time.timescale == 600 && !time.seconds.isNaN)
    }

    @Test(arguments: [0, -1, 1, .min, .max]) func `A part of a picture of any size is not empty`(side: Int) throws {
        let rect = try ClippingRect(x: 0.5, y: 0.25, width: 0.5, height: 0.75)
        let pixels = rect.pixels(width: side, height: side)
        #expect(pixels.width >= 1 && pixels.height >= 1 && pixels.left >= 0 && pixels.top >= 0)
    }

    @Test(arguments: [1e300, -1e300, .infinity, .nan])
    func `What arrives in any time is a number of bytes`(seconds: Double) {
        let bytes = NetworkProfile.bytesMax(within: seconds, bitsPerSecond: 1e12, roundTripSeconds: 0.1)
        #expect(seconds > 0 ? bytes == .max : bytes <= 0)
    }

    @Test(arguments: [Int.min, .max, 0, -1]) func `A file of any size has a time to be fetched in`(bytes: Int) {
        #expect(NetworkProfile.lte.fetchSeconds(bytes: bytes).isFinite)
    }
}
