import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// The fast path for plain JPEGs gives the same thumbnails as libvips.
struct JPEGThumbnailerTests {
    private let motif = Array(1...12)

    @Test(arguments: Orientation.allCases) func `A thumbnail is rotated upright for every EXIF orientation`(
        orientation: Orientation
    ) throws {
        let names = [
            "TopLeft", "TopRight", "BottomRight", "BottomLeft", "LeftTop", "RightTop", "RightBottom", "LeftBottom",
        ]
        let undo: [[String]] = [
            [], ["-flop"], ["-rotate", "180"], ["-flip"], ["-transpose"], ["-rotate", "270"], ["-transverse"],
            ["-rotate", "90"],
        ]
        let index = orientation.rawValue - 1
        // ImageMagick writes the tag only into an existing EXIF block.
        let tiff = try StillFixture.converted("o.tiff", undo[index] + ["-orient", names[index]])
        let file = tiff.replacingOccurrences(of: ".tiff", with: ".jpg")
        try GeneratedMedia.run("vips", ["copy", tiff, "\(file)[Q=90]"])
        #expect(try JPEGSegments.parse(window(file)).exif.first??.orientation ?? 1 == orientation.rawValue)
        let still = try RenderedStill(file, format: .jpeg)
        #expect(still.media.thumbnail?.width == 300 && still.media.thumbnail?.height == 225)
        #expect(SampleMotif.cells(in: try still.image(.thumbnail)) == motif)
    }

    /// The largest mean distance. Where a block is one pixel, the noise of both JPEGs counts; a moved or mirrored image
    /// is over 10 all the same.
    static func tolerance(_ width: Int, _ height: Int) -> Double { max(width, height) < 64 ? 10 : 4 }

    @Test(arguments: [(5, 2), (45, 40), (300, 10), (10, 300), (333, 333)])
    func `A box is filled and cropped as libvips does it`(width: Int, height: Int) throws {
        var request = RenderRequest(format: .jpeg, frameSelection: .still)
        request.thumbnail = ThumbnailRendition(width: width, height: height, fit: .cover)
        let fast = try RenderedStill(StillFixture.sample("grid.jpg"), request)
        request.format = .tiff
        let reference = try RenderedStill(StillFixture.converted("grid.tiff", []), request)
        #expect(fast.media.thumbnail?.width == reference.media.thumbnail?.width)
        #expect(fast.media.thumbnail?.height == reference.media.thumbnail?.height)
        let distance = try ImageDistance(fast.image(.thumbnail), reference.image(.thumbnail))
        #expect(distance.mean < Self.tolerance(width, height), "\(distance)")
    }

    @Test(arguments: [("4:4:4", "1x1"), ("4:2:2", "2x1"), ("4:2:0", "2x2"), ("4:4:0", "1x2")])
    func `Colors are correct at every chroma subsampling`(name: String, factors: String) throws {
        let file = try StillFixture.converted("sampled.jpg", ["-sampling-factor", factors, "-quality", "92"])
        let thumbnail = try RenderedStill(file, format: .jpeg).image(.thumbnail)
        let distance = try ImageDistance(thumbnail, TestImage(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test(arguments: [1.0, 0.5, 0.2]) func `Every decode scale gives the same thumbnail`(share: Double) throws {
        let side = "\(Int(4800 * share))x"
        let file = try StillFixture.converted("large.jpg", ["-resize", side, "-quality", "90"])
        let thumbnail = try RenderedStill(file, format: .jpeg).image(.thumbnail)
        let distance = try ImageDistance(thumbnail, TestImage(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
        #expect(SampleMotif.cells(in: thumbnail) == motif)
    }

    @Test func `A gray JPEG stays gray`() throws {
        let file = try StillFixture.converted("gray.jpg", ["-colorspace", "Gray"])
        let color = try RenderedStill(file, format: .jpeg).image(.thumbnail).color(atUnitX: 0.05, y: 0.1)
        #expect(abs(color.red - color.green) < 5 && abs(color.green - color.blue) < 5)
    }

    @Test func `Colors of a profile other than sRGB are converted`() throws {
        let plain = try StillFixture.converted("plain.tiff", [])
        let wide = plain.replacingOccurrences(of: ".tiff", with: ".jpg")
        // The profile "p3" is built into libvips.
        try GeneratedMedia.run("vips", ["icc_transform", plain, "\(wide)[Q=95]", "p3", "--input-profile", "srgb"])
        #expect(!(try JPEGSegments.parse(window(wide)).profile.isEmpty))
        let thumbnail = try RenderedStill(wide, format: .jpeg).image(.thumbnail)
        let distance = try ImageDistance(thumbnail, TestImage(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test(arguments: [65_519, 60_000, 1_000])
    func `A color profile of half a megabyte in several segments is applied`(partBytes: Int) throws {
        let plain = try StillFixture.converted("plain.tiff", [])
        let wide = plain.replacingOccurrences(of: ".tiff", with: ".jpg")
        try GeneratedMedia.run("vips", ["icc_transform", plain, "\(wide)[Q=95]", "p3", "--input-profile", "srgb"])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: wide)))
        let segments = try JPEGSegments.parse(window(wide))
        let segment = try #require(segments.profile.first)
        // At most 255 parts can be numbered.
        let size = min(524_288, partBytes * 255)
        let profile = Array(bytes[segment.dropFirst(18)])
        let padded = MediaBytes.bigEndian(size, 4) + profile.dropFirst(4) + MediaBytes.zeros(size - profile.count)
        let parts = stride(from: 0, to: size, by: partBytes).map { Array(padded[$0..<min(size, $0 + partBytes)]) }
        let written = parts.enumerated().flatMap { index, part in
            MediaBytes.jpeg(
                0xE2, MediaBytes.text("ICC_PROFILE\0") ++ [UInt8(index + 1), UInt8(parts.count)] ++ part)
        }
        let file = try GeneratedMedia.file(
            "large-profile.jpg",
            bytes: Array(bytes[..<segment.lowerBound]) ++ written ++ Array(bytes[segment.upperBound...]))
        #expect(try JPEGSegments.parse(window(file.path)).profile.count == parts.count)
        let thumbnail = try RenderedStill(file.path, format: .jpeg).image(.thumbnail)
        let distance = try ImageDistance(thumbnail, TestImage(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
        let inspected = try MediaProcessor().perform(
            .inspect(InspectRequest(format: .jpeg, decodesStills: true)), descriptors: [open(file.path, O_RDONLY)],
            deadline: .now + .seconds(60))
        guard case .inspected(let media, _) = inspected else {
            throw GeneratedMedia.FixtureError(description: "no answer")
        }
        #expect(media.hasColorProfile && media.damage == nil)
    }

    @Test(arguments: [8, 4, 2, 1])
    func `The decode scale leaves at least 1.5 pixels for each target pixel`(eighths: Int) {
        let target = (width: 300, height: 225)
        let width = 450 * 8 / eighths
        #expect(JPEGDecodeScale.eighths(width: width, height: width * 3 / 4, target: target) == eighths)
        #expect(
            JPEGDecodeScale.eighths(width: width - 8, height: width * 3 / 4, target: target) > eighths || eighths == 8)
    }

    @Test func `A truncated JPEG is corrupt`() throws {
        let error = #expect(throws: AttachPrepError.self) {
            try RenderedStill(StillFixture.sample("truncated.jpg"), format: .jpeg)
        }
        #expect(error?.code == .mediaCorrupt)
    }

    private func window(_ file: String) throws -> ByteWindow {
        try ByteWindow(bytes: [UInt8](Data(contentsOf: URL(fileURLWithPath: file))), noun: "JPEG")
    }
}
