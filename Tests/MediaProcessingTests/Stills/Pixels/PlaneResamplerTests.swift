import MediaLibraries
import Testing

@testable import MediaProcessing

struct PlaneResamplerTests {
    @Test(arguments: [(500, 300), (300, 300), (4000, 7), (7, 300), (1, 1), (2, 1)])
    func `The weights of each sample sum to one and stay inside the line`(count: Int, target: Int) {
        let filter = LanczosFilter(from: count, to: target)
        for index in 0..<target {
            let weights = filter.weights[(index * filter.taps)..<((index + 1) * filter.taps)]
            #expect(abs(weights.reduce(0, +) - 1) < 1e-4)
            #expect(filter.first[index] >= 0 && filter.first[index] + filter.taps <= count)
        }
    }

    @Test(arguments: [0, 1, 128, 254, 255] as [UInt8]) func `A plane of one shade keeps that shade`(shade: UInt8) {
        var resampler = PlaneResampler(width: 30, height: 23)
        let plane = [UInt8](repeating: shade, count: 97 * 61)
        let columns = resampler.columns(of: JPEGPlane(width: 97, height: 61, samples: plane))
        #expect(columns == [UInt8](repeating: shade, count: 30 * 23))
    }

    @Test func `A ramp stays a ramp in the transposed result`() {
        var resampler = PlaneResampler(width: 20, height: 10)
        let plane = (0..<(200 * 100)).map { UInt8($0 % 200) }
        let columns = resampler.columns(of: JPEGPlane(width: 200, height: 100, samples: plane))
        for column in 1..<19 {
            let shades = columns[(column * 10)..<(column * 10 + 10)]
            #expect(shades.allSatisfy { abs(Int($0) - (column * 10 + 4)) <= 1 })
        }
    }

    @Test func `Overshoot at black and white edges is clamped`() {
        var resampler = PlaneResampler(width: 33, height: 33)
        let plane = (0..<(100 * 100)).map { $0 % 100 < 50 ? UInt8(0) : 255 }
        let columns = resampler.columns(of: JPEGPlane(width: 100, height: 100, samples: plane))
        #expect(columns.first == 0 && columns.last == 255)
    }
}

struct RowBoxFilterTests {
    private func noise(_ count: Int, _ seed: Int) -> [UInt8] {
        var state = UInt32(truncatingIfNeeded: seed)
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 256])
    func `Filtering row by row gives the same result as filtering the whole plane`(factor: Int) {
        let (width, height) = (301, 259)
        let planes = (0..<3).map { JPEGPlane(width: width, height: height, samples: noise(width * height, $0)) }
        var filter = RowBoxFilter(width: width, height: height, samples: 3, factor: factor)
        for row in 0..<height {
            var pixels = (0..<width).flatMap { column in planes.map { $0.samples[row * width + column] } }
            unsafe pixels.withUnsafeMutableBufferPointer { unsafe filter.append($0) }
        }
        #expect(filter.shrunk() == planes.map { PlaneBoxFilter.shrink($0, by: factor) })
    }

    @Test func `White stays white at the largest factor`() {
        var filter = RowBoxFilter(width: 300, height: 256, samples: 1, factor: 256)
        var row = [UInt8](repeating: 255, count: 300)
        for _ in 0..<256 { unsafe row.withUnsafeMutableBufferPointer { unsafe filter.append($0) } }
        #expect(filter.shrunk()[0].samples == [255, 255])
    }
}

struct RoundedMeanTests {
    @Test(arguments: [1, 2, 3, 4, 9, 25, 49, 600, 4095, 4096, 4097, 65_536])
    func `Every mean is rounded as a division rounds it`(
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
