import Foundation
import Glibc
import MediaTypes
import TestSupport
import Testing

@testable import MediaEngine
@testable import MediaLibraries
@testable import MediaProcessing

@Suite struct PlaneTests {
    private static func numbered(_ width: Int, _ height: Int) -> JPEGPlane {
        JPEGPlane(width: width, height: height, samples: (0..<width * height).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test(arguments: Orientation.allCases) func `A plane is rotated upright as libvips rotates an image`(
        orientation: Orientation
    ) throws {
        try VipsLibrary.start()
        let plane = Self.numbered(45, 37)
        let upright = PlaneOrientation.upright(plane, orientation: orientation)
        let image = try Image.wrap(
            pixels: plane.samples, width: 45, height: 37, bands: 1, orientation: orientation.rawValue
        ).upright()
        #expect(upright.width == image.width && upright.height == image.height)
        #expect(try upright.samples == image.pixels())
    }

    @Test func `A box filter averages each square, partial ones at the edges too`() {
        let plane = JPEGPlane(width: 3, height: 3, samples: [0, 4, 10, 8, 12, 20, 30, 50, 70])
        #expect(PlaneBoxFilter.shrink(plane, by: 2).samples == [6, 15, 40, 70])
        #expect(PlaneBoxFilter.shrink(plane, by: 1) == plane)
    }

    @Test func `A large plane is resampled to nearly what the filter alone gives`() {
        let (width, height) = (1_203, 907)
        let samples = (0..<width * height).map { UInt8(($0 % width) * 200 / width + ($0 / width) * 55 / height) }
        let plane = JPEGPlane(width: width, height: height, samples: samples)
        var reduction = PlaneResampler(width: 100, height: 75)
        let large = reduction.columns(ofLarge: plane)
        let exact = reduction.columns(of: plane)
        #expect(zip(large, exact).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }

    @Test(arguments: [(1, 1), (2, 1), (2, 2)], [(64, 48), (45, 37), (1, 1), (17, 16)])
    func `Planes survive encoding as a JPEG at every chroma subsampling`(halving: (Int, Int), size: (Int, Int)) throws {
        let (width, height) = size
        let chroma = ((width + halving.0 - 1) / halving.0, (height + halving.1 - 1) / halving.1)
        func smooth(_ width: Int, _ height: Int, _ base: Int) -> JPEGPlane {
            JPEGPlane(
                width: width, height: height,
                samples: (0..<width * height).map { UInt8(base + ($0 % width) + ($0 / width)) })
        }
        let planes = [smooth(width, height, 40), smooth(chroma.0, chroma.1, 90), smooth(chroma.0, chroma.1, 10)]
        let bytes = try JPEGEncoder.encode(planes: planes, quality: 100, optimizes: true)
        let back = try EncodedJPEG.planes(of: bytes)
        #expect(back.map(\.width) == planes.map(\.width))
        for (before, after) in zip(planes, back) {
            #expect(zip(before.samples, after.samples).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
        }
    }

    @Test func `Gray stays gray, and Display P3 colors are converted to sRGB`() throws {
        let p3 = try #require(MatrixProfile(Array(SyntheticHEIF.displayP3().dropFirst(12))))
        let matrix = ColorMatrix(from: .jpeg, profile: p3)
        func one(_ y: UInt8, _ cb: UInt8, _ cr: UInt8) -> [UInt8] {
            matrix.apply([y, cb, cr].map { JPEGPlane(width: 1, height: 1, samples: [$0]) }).map { $0.samples[0] }
        }
        for gray: UInt8 in [0, 1, 40, 128, 254, 255] { #expect(one(gray, 128, 128) == [gray, 128, 128]) }
        // 255, 0, 0 is outside sRGB and is clamped to the red of sRGB.
        #expect(one(76, 85, 255) == [76, 85, 255])
        // 200, 100, 100 is 215, 93, 97 in sRGB.
        #expect(zip(one(130, 111, 178), [130, 109, 189]).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }
}

struct YCbCrConversionTests {
    /// The equations of JFIF 1.02 in floating point.
    private func expected(_ red: Int, _ green: Int, _ blue: Int) -> [Double] {
        let (r, g, b) = (Double(red), Double(green), Double(blue))
        return [
            0.299 * r + 0.587 * g + 0.114 * b, -0.1687 * r - 0.3313 * g + 0.5 * b + 128,
            0.5 * r - 0.4187 * g - 0.0813 * b + 128,
        ]
    }

    @Test func `Every color has the luma and chroma that JFIF defines`() {
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

struct SampleRangeTests {
    @Test func `Samples of limited range are expanded to full range`() {
        let all = (0...255).map { UInt8($0) }
        let expanded = SampleRange.full(
            [1, 2, 3].map { _ in JPEGPlane(width: 256, height: 1, samples: all) }
        ).map(\.samples)
        func rounded(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
        #expect(expanded[0] == all.map { rounded(Double(Int($0) - 16) * 255 / 219) })
        #expect(expanded[1] == all.map { rounded(Double(Int($0) - 128) * 255 / 224 + 128) })
        #expect(expanded[2] == expanded[1])
    }
}

/// The components of a JPEG, decoded by libjpeg.
enum EncodedJPEG {
    static func planes(of bytes: [UInt8]) throws -> [JPEGPlane] {
        let descriptor = open(try GeneratedMedia.file("planes.jpg", bytes: bytes).path, O_RDONLY)
        defer { close(descriptor) }
        return try JPEGDecoder(descriptor: descriptor).planes(eighths: 8)
    }
}
