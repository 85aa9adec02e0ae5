import TestSupport
import Testing

@testable import JPEG

/// Our own decoder against libjpeg-turbo's: the same picture, or no word on it.
struct BaselineDecoderTests {
    private static let kinds: [[String]] = [
        ["-quality", "90"], ["-quality", "30"], ["-quality", "90", "-sample", "1x1"],
        ["-quality", "85", "-sample", "2x1"], ["-quality", "85", "-sample", "1x2"],
        ["-quality", "95", "-sample", "4x1"], ["-grayscale"], ["-quality", "80", "-optimize"],
        ["-quality", "80", "-restart", "1"], ["-quality", "80", "-restart", "3B"], ["-quality", "100"],
    ]

    @Test(arguments: kinds) func `An eighth has the luma that libjpeg gives, to the last bit`(options: [String]) throws
    {
        let file = try JPEGFile(options)
        let planes = try #require(file.planes(eighths: 1))
        let reference = try file.reference(eighths: 1)
        #expect(planes.count == reference.count)
        #expect(planes[0] == reference[0])
    }

    @Test(arguments: kinds) func `A quarter looks as libjpeg's does`(options: [String]) throws {
        let file = try JPEGFile(options)
        let planes = try #require(file.planes(eighths: 2))
        let reference = try file.reference(eighths: 2)
        #expect(planes[0].width == reference[0].width && planes[0].height == reference[0].height)
        // libjpeg takes a few more coefficients into it.
        #expect(meanDifference(planes[0], reference[0]) < 3)
    }

    @Test func `Chroma comes at the size it is stored at`() throws {
        let planes = try #require(JPEGFile(["-sample", "2x2"]).planes(eighths: 1))
        #expect(planes.map(\.width) == [100, 50, 50])
        #expect(planes.map(\.height) == [75, 38, 38])
    }

    @Test func `Chroma that is whole has the values that libjpeg gives`() throws {
        let file = try JPEGFile(["-quality", "90", "-sample", "1x1"])
        #expect(try #require(file.planes(eighths: 1)) == file.reference(eighths: 1))
    }

    @Test(arguments: [["-progressive"], ["-arithmetic"], ["-rgb"]].prefix(2))
    func `Other kinds are left to libjpeg`(options: [String]) throws {
        #expect(try JPEGFile(options).planes(eighths: 1) == nil)
    }

    @Test(arguments: [0.1, 0.5, 0.9, 0.999]) func `A file that is cut is left to libjpeg`(share: Double) throws {
        let whole = try JPEGFile(["-quality", "90"]).bytes
        let cut = try JPEGFile(bytes: Array(whole.prefix(Int(Double(whole.count) * share))))
        #expect(cut.planes(eighths: 1) == nil)
        #expect(throws: JPEGDamageError.self) { try cut.reference(eighths: 1) }
    }

    @Test func `A file of other components than luma and chroma has no planes`() throws {
        let file = try JPEGFile(["-rgb"])
        #expect(throws: JPEGError.self) { try file.reference(eighths: 8) }
    }

    @Test func `A restart marker in the wrong place is left to libjpeg`() throws {
        var bytes = try JPEGFile(["-restart", "2"]).bytes
        let marker = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD3 })
        bytes[marker + 1] = 0xD5
        #expect(try JPEGFile(bytes: bytes).planes(eighths: 1) == nil)
    }

    @Test func `Whatever byte of a file is changed, decoding ends`() throws {
        let whole = try JPEGFile(["-quality", "75", "-restart", "4B"], crop: "120x90").bytes
        var generator = SystemRandomNumberGenerator()
        for place in stride(from: 2, to: whole.count, by: 3) {
            var changed = whole
            changed[place] = UInt8.random(in: 0...255, using: &generator)
            let file = try JPEGFile(bytes: changed)
            // What it says need not be the picture, but is of its size.
            for eighths in BaselineDecoder.reductions {
                for plane in file.planes(eighths: eighths) ?? [] {
                    #expect(plane.samples.count == plane.width * plane.height)
                }
            }
        }
    }

    private func meanDifference(_ a: JPEGPlane, _ b: JPEGPlane) -> Double {
        let sum = zip(a.samples, b.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        return Double(sum) / Double(a.samples.count)
    }
}
