import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// A broken JPEG has the same verdict on every path to its pixels (issue 18).
struct DamagedJPEGTests {
    /// A baseline JPEG of 1,600 x 1,200, broken by `change`.
    private func file(
        _ options: [String] = ["-quality", "85"], _ change: (inout [UInt8]) -> Void
    ) throws -> String {
        let source = try StillFixture.converted("large.jpg", ["-resize", "1600x"] + options)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
        change(&bytes)
        return try GeneratedMedia.file("broken.jpg", bytes: bytes).path
    }

    private func inspect(_ file: String) throws -> InspectedMedia {
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        let answer = try MediaProcessor().perform(
            .inspect(InspectRequest(format: .jpeg, decodesStills: true)), descriptors: [descriptor],
            deadline: .now + .seconds(60))
        guard case .inspected(let media, _) = answer else {
            throw GeneratedMedia.FixtureError(description: "no answer")
        }
        return media
    }

    /// The error code of every path to the pixels of a JPEG; nil where it succeeds.
    private func verdicts(_ file: String) throws -> [ErrorCode?] {
        let crop = try ClippingRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
        let paths: [() throws -> Void] =
            [20, 150, 300, 700, 1_000, 2_000].map { side in
                { _ = try RenderedStill(file, format: .jpeg, side: side) }
            } + [
                { _ = try RenderedStill(file, format: .jpeg, reencodes: true) },
                { _ = try RenderedStill(file, format: .jpeg, crop: crop) },
                { _ = try RenderedStill(file, RenderRequest(format: .jpeg, frameSelection: .still)) },
            ]
        return paths.map { path in
            do {
                try path()
                return nil
            } catch { return (error as? AttachPrepError)?.code ?? .internal }
        }
    }

    private static let breaks: [String: @Sendable (inout [UInt8]) -> Void] = [
        "truncated at nine tenths": { $0.removeLast($0.count / 10) },
        "truncated in half": { $0.removeLast($0.count / 2) },
        "without EOI": { $0.removeLast(2) },
        "an invalid code": { bytes in
            let offset = bytes.count * 9 / 10
            bytes.replaceSubrange(offset..<(offset + 8), with: [0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0])
        },
        "a marker in the scan": { bytes in
            let offset = bytes.count * 9 / 10
            bytes.replaceSubrange(offset..<(offset + 2), with: [0xFF, 0xC8])
        },
        "200 bytes lost": { $0.removeSubrange(($0.count / 4)..<($0.count / 4 + 200)) },
        "zeros": { $0.replaceSubrange(($0.count / 2)..<($0.count / 2 + 512), with: MediaBytes.zeros(512)) },
    ]

    @Test(arguments: breaks.keys.sorted(), [["-quality", "85"], ["-interlace", "JPEG"], ["-colorspace", "Gray"]])
    func `A broken scan is rejected on every path and at every size`(name: String, options: [String]) throws {
        let change = try #require(Self.breaks[name])
        // In a progressive file a run of ones may be a valid code.
        if name.hasPrefix("an invalid"), options.contains("JPEG") { return }
        let verdicts = try verdicts(file(options, change))
        #expect(verdicts == verdicts.map { _ in .mediaCorrupt })
    }

    @Test func `Extra bytes before a marker are accepted on every path`() throws {
        let verdicts = try verdicts(file { $0.insert(contentsOf: [1, 2, 3], at: $0.count - 2) })
        #expect(verdicts == verdicts.map { _ in nil })
    }

    @Test(arguments: ["200 bytes lost", "zeros", "truncated in half"])
    func `A JPEG that is shown wrongly for the most part is corrupt`(name: String) throws {
        let error = #expect(throws: AttachPrepError.self) {
            try inspect(file(["-quality", "85"], #require(Self.breaks[name])))
        }
        #expect(error?.code == .mediaCorrupt)
    }

    @Test(arguments: [["-quality", "85"], ["-interlace", "JPEG"]])
    func `A JPEG without its end marker alone is completed, not repaired`(options: [String]) throws {
        let file = try file(options, #require(Self.breaks["without EOI"]))
        let media = try inspect(file)
        #expect(media.damage == nil && media.containerDefect == .trailerMissing)
        var rendition = StillRendition(bytesMax: Limits.imageBytesMax)
        rendition.isRepair = true
        var request = RenderRequest(format: .jpeg, frameSelection: .still)
        request.attachment = .still(rendition)
        let still = try RenderedStill(file, request)
        #expect(still.media.warnings.isEmpty)
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12))
    }

    @Test(arguments: ["truncated at nine tenths", "an invalid code", "a marker in the scan"])
    func `A JPEG with most of its rows is inspected as damaged and repaired`(name: String) throws {
        let broken = try file(["-quality", "85"], #require(Self.breaks[name]))
        let media = try inspect(broken)
        #expect((0.75...1).contains(try #require(media.damage?.intactShare)))
        #expect(media.width == 1600 && media.height == 1200)
        var rendition = StillRendition(bytesMax: Limits.imageBytesMax)
        rendition.isRepair = true
        var request = RenderRequest(format: .jpeg, frameSelection: .still)
        request.attachment = .still(rendition)
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        let still = try RenderedStill(broken, request)
        #expect(still.media.attachment?.width == 1600 && still.media.attachment?.type == .jpeg)
        #expect(still.media.warnings.map(\.code) == [.mediaRepaired])
        #expect(try SampleMotif.cells(in: still.image(.thumbnail)).prefix(8) == Array(1...12).prefix(8))
        // What was written is intact.
        let written = try GeneratedMedia.file("written.jpg", bytes: still.bytes(.attachment)).path
        #expect(try inspect(written).damage == nil)
    }

    @Test func `A damaged rotated JPEG is repaired upright`() throws {
        let broken = try file(["-rotate", "270", "-orient", "RightTop", "-quality", "85"]) {
            $0.removeLast($0.count / 20)
        }
        let media = try inspect(broken)
        var rendition = StillRendition(bytesMax: Limits.imageBytesMax)
        rendition.isRepair = true
        var request = RenderRequest(format: .jpeg, frameSelection: .still)
        request.attachment = .still(rendition)
        let still = try RenderedStill(broken, request)
        #expect(still.media.attachment?.width == media.width && still.media.attachment?.height == media.height)
    }
}
