import JPEG
import Testing

@testable import MediaProcessing

struct PlaneReductionTests {
    @Test(arguments: [(500, 300), (300, 300), (4000, 7), (7, 300), (1, 1), (2, 1)])
    func `The weights of a sample are one together, and lie inside the line`(count: Int, target: Int) {
        let filter = LanczosFilter(from: count, to: target)
        for index in 0..<target {
            let weights = filter.weights[(index * filter.taps)..<((index + 1) * filter.taps)]
            #expect(abs(weights.reduce(0, +) - 1) < 1e-4)
            #expect(filter.first[index] >= 0 && filter.first[index] + filter.taps <= count)
        }
    }

    @Test(arguments: [0, 1, 128, 254, 255] as [UInt8]) func `What is of one shade stays of that shade`(shade: UInt8) {
        var reduction = PlaneResampler(width: 30, height: 23)
        let plane = [UInt8](repeating: shade, count: 97 * 61)
        let columns = reduction.columns(of: JPEGPlane(width: 97, height: 61, samples: plane))
        #expect(columns == [UInt8](repeating: shade, count: 30 * 23))
    }

    @Test func `A ramp stays a ramp, lying on its side`() {
        var reduction = PlaneResampler(width: 20, height: 10)
        let plane = (0..<(200 * 100)).map { UInt8($0 % 200) }
        let columns = reduction.columns(of: JPEGPlane(width: 200, height: 100, samples: plane))
        for column in 1..<19 {
            let shades = columns[(column * 10)..<(column * 10 + 10)]
            #expect(shades.allSatisfy { abs(Int($0) - (column * 10 + 4)) <= 1 })
        }
    }

    @Test func `Black and white edges stay within a byte`() {
        var reduction = PlaneResampler(width: 33, height: 33)
        let plane = (0..<(100 * 100)).map { $0 % 100 < 50 ? UInt8(0) : 255 }
        let columns = reduction.columns(of: JPEGPlane(width: 100, height: 100, samples: plane))
        #expect(columns.first == 0 && columns.last == 255)
    }
}
