import JPEG
import Testing

@testable import MediaProcessing

struct RowShrinkTests {
    private func noise(_ count: Int, _ seed: Int) -> [UInt8] {
        var state = UInt32(truncatingIfNeeded: seed)
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 256]) func `Rows become what the whole would`(factor: Int) {
        let (width, height) = (301, 259)
        let planes = (0..<3).map { JPEGPlane(width: width, height: height, samples: noise(width * height, $0)) }
        var shrink = RowBoxFilter(width: width, height: height, samples: 3, factor: factor)
        for row in 0..<height {
            var pixels = (0..<width).flatMap { column in planes.map { $0.samples[row * width + column] } }
            unsafe pixels.withUnsafeMutableBufferPointer { unsafe shrink.take($0) }
        }
        #expect(shrink.shrunk() == planes.map { PlaneBoxFilter.shrink($0, by: factor) })
    }

    @Test func `White stays white at the largest factor`() {
        var shrink = RowBoxFilter(width: 300, height: 256, samples: 1, factor: 256)
        var row = [UInt8](repeating: 255, count: 300)
        for _ in 0..<256 { unsafe row.withUnsafeMutableBufferPointer { unsafe shrink.take($0) } }
        #expect(shrink.shrunk()[0].samples == [255, 255])
    }
}

struct RoundedMeanTests {
    @Test(arguments: [1, 2, 3, 4, 9, 25, 49, 600, 4095, 4096, 4097, 65_536])
    func `Every mean is rounded as by dividing`(
        count: Int
    ) {
        let mean = RoundedMean(count: count)
        let half = (count + 1) / 2
        for shade in 0...255 {
            for sum in [shade * count - half, shade * count, shade * count + half - 1, shade * count + half]
            where (0...255 * count).contains(sum) {
                #expect(Int(mean.of(sum: UInt32(sum))) == (sum + count / 2) / count)
            }
        }
    }
}
