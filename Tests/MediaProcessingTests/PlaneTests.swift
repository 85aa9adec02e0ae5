import RichPush
import Testing

@testable import JPEG
@testable import MediaProcessing
@testable import Vips

@Suite struct PlaneTests {
    private static func numbered(_ width: Int, _ height: Int) -> JPEGPlane {
        JPEGPlane(width: width, height: height, samples: (0..<width * height).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test(arguments: Orientation.allCases) func `a plane is stood upright as libvips stands a picture`(
        orientation: Orientation
    ) throws {
        try VipsLibrary.start()
        let plane = Self.numbered(45, 37)
        let turned = PlaneOrientation.upright(plane, orientation)
        let picture = try Image.wrap(
            pixels: plane.samples, width: 45, height: 37, bands: 1, orientation: orientation.rawValue
        ).upright()
        #expect([turned.width, turned.height] == [picture.width, picture.height])
        #expect(try turned.samples == picture.pixels())
    }

    @Test func `squares become their means, those that hang over as well`() {
        let plane = JPEGPlane(width: 3, height: 3, samples: [0, 4, 10, 8, 12, 20, 30, 50, 70])
        #expect(PlaneBoxFilter.shrink(plane, by: 2).samples == [6, 15, 40, 70])
        #expect(PlaneBoxFilter.shrink(plane, by: 1) == plane)
    }

    @Test func `a large plane is reduced to what the filter alone makes of it`() {
        let (width, height) = (1_203, 907)
        let samples = (0..<width * height).map { UInt8(($0 % width) * 200 / width + ($0 / width) * 55 / height) }
        let plane = JPEGPlane(width: width, height: height, samples: samples)
        var reduction = PlaneResampler(width: 100, height: 75)
        let quick = reduction.columns(ofLarge: plane)
        let exact = reduction.columns(of: plane)
        #expect(zip(quick, exact).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }

    @Test(arguments: [(1, 1), (2, 1), (2, 2)], [(64, 48), (45, 37), (1, 1), (17, 16)])
    func `components come back out of a JPEG as they went in`(halving: (Int, Int), size: (Int, Int)) throws {
        let (width, height) = size
        let chroma = ((width + halving.0 - 1) / halving.0, (height + halving.1 - 1) / halving.1)
        func smooth(_ width: Int, _ height: Int, _ base: Int) -> JPEGPlane {
            JPEGPlane(
                width: width, height: height,
                samples: (0..<width * height).map { UInt8(base + ($0 % width) + ($0 / width)) })
        }
        let planes = [smooth(width, height, 40), smooth(chroma.0, chroma.1, 90), smooth(chroma.0, chroma.1, 10)]
        let bytes = try JPEGEncoder.encode(planes: planes, quality: 100, optimizes: true)
        let back = try WrittenJPEG.planes(of: bytes)
        #expect(back.map(\.width) == planes.map(\.width))
        for (before, after) in zip(planes, back) {
            #expect(zip(before.samples, after.samples).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
        }
    }

    @Test func `grey stays grey and a red of Display P3 becomes more than sRGB has`() throws {
        let p3 = try #require(MatrixProfile(Array(WrittenHEIF.displayP3().dropFirst(12))))
        let turn = ColorMatrix(from: .jpeg, profile: p3)
        func one(_ y: UInt8, _ cb: UInt8, _ cr: UInt8) -> [UInt8] {
            turn.apply([y, cb, cr].map { JPEGPlane(width: 1, height: 1, samples: [$0]) }).map { $0.samples[0] }
        }
        for grey: UInt8 in [0, 1, 40, 128, 254, 255] { #expect(one(grey, 128, 128) == [grey, 128, 128]) }
        // 255, 0, 0 stays at what sRGB's red can be, whatever it was before.
        #expect(one(76, 85, 255) == [76, 85, 255])
        // 200, 100, 100 is 215, 93, 97 in sRGB.
        #expect(zip(one(130, 111, 178), [130, 109, 189]).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }
}
