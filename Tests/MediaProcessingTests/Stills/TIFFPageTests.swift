import AttachPrepModel
import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// The page and the samples of a TIFF that are shown.
@Suite struct TIFFPageTests {
    private typealias Bytes = MediaBytes

    /// A directory in little-endian order: its tags with their values, before the offset of the next one.
    private static func directory(_ tags: [(tag: Int, values: [Int])], at start: Int, next: Int) -> [UInt8] {
        var (entries, others) = ([UInt8](), [UInt8]())
        let end = start + 2 + tags.count * 12 + 4
        for (tag, values) in tags.sorted(by: { $0.tag < $1.tag }) {
            let isLong = [256, 257, 273, 279].contains(tag)
            let content = values.flatMap { Bytes.littleEndian($0, isLong ? 4 : 2) }
            entries += Bytes.littleEndian(tag, 2) + [isLong ? 4 : 3, 0] + Bytes.littleEndian(values.count, 4)
            if content.count > 4 {
                entries += Bytes.littleEndian(end + others.count, 4)
                others += content
            } else {
                entries += content + [UInt8](repeating: 0, count: 4 - content.count)
            }
        }
        return Bytes.littleEndian(tags.count, 2) + entries + Bytes.littleEndian(next, 4) + others
    }

    /// One strip of interleaved samples.
    private static func tags(
        width: Int, height: Int, samples: Int, extras: [Int]?, offset: Int, length: Int
    ) -> [(tag: Int, values: [Int])] {
        var tags: [(tag: Int, values: [Int])] = [
            (256, [width]), (257, [height]), (258, [Int](repeating: 8, count: samples)), (259, [1]), (262, [2]),
            (273, [offset]), (277, [samples]), (278, [height]), (279, [length]), (284, [1]),
        ]
        if let extras { tags.append((338, extras)) }
        return tags
    }

    /// The grid, with further samples from its alpha and from zeros.
    private func file(samples: Int, extras: [Int]?, _ extra: (Int) -> [UInt8]) throws -> String {
        let grid = try TestImage(decoding: StillFixture.sample("grid.png"))
        let pixels = stride(from: 0, to: grid.bytes.count, by: 4).flatMap {
            Array(grid.bytes[$0..<$0 + 3]) + extra($0 / 4)
        }
        let tags = Self.tags(
            width: 800, height: 600, samples: samples, extras: extras, offset: 1_000, length: pixels.count)
        var bytes: [UInt8] = [0x49, 0x49, 42, 0] + Bytes.littleEndian(8, 4) + Self.directory(tags, at: 8, next: 0)
        bytes += [UInt8](repeating: 0, count: 1_000 - bytes.count) + pixels
        return try GeneratedMedia.file("samples.tif", bytes: bytes).path
    }

    @Test func `Of five samples, the one declared as alpha counts, in attachment and thumbnail`() throws {
        // The left half is transparent.
        let path = try file(samples: 5, extras: [2, 0]) { [$0 % 800 < 400 ? 0 : 255, 0] }
        let still = try RenderedStill(path, format: .tiff, reencodes: true)
        for output in [RenderOutput.attachment, .thumbnail] {
            let image = try still.image(output)
            #expect(image.alpha(atUnitX: 0.2, y: 0.5) < 1 && image.alpha(atUnitX: 0.8, y: 0.5) > 254, "\(output)")
        }
        #expect(still.media.warnings.isEmpty)
    }

    @Test(arguments: [[0], nil] as [[Int]?])
    func `A fourth sample without a meaning is no alpha`(extras: [Int]?) throws {
        let still = try RenderedStill(file(samples: 4, extras: extras) { _ in [0] }, format: .tiff, reencodes: true)
        #expect(still.media.attachment?.type == .jpeg && still.media.thumbnail?.type == .jpeg)
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12))
    }

    @Test func `A reduced image that comes first is not shown`() throws {
        let grid = try TestImage(decoding: StillFixture.sample("grid.png"))
        let pixels = stride(from: 0, to: grid.bytes.count, by: 4).flatMap { Array(grid.bytes[$0..<$0 + 3]) }
        let small = [UInt8](repeating: 90, count: 32 * 24 * 3)
        let first =
            Self.tags(width: 32, height: 24, samples: 3, extras: nil, offset: 1_000, length: small.count) + [(254, [1])]
        let main = Self.tags(
            width: 800, height: 600, samples: 3, extras: nil, offset: 1_000 + small.count, length: pixels.count)
        var bytes: [UInt8] = [0x49, 0x49, 42, 0] + Bytes.littleEndian(8, 4) + Self.directory(first, at: 8, next: 500)
        bytes += [UInt8](repeating: 0, count: 500 - bytes.count) + Self.directory(main, at: 500, next: 0)
        bytes += [UInt8](repeating: 0, count: 1_000 - bytes.count) + small + pixels
        let path = try GeneratedMedia.file("reduced.tif", bytes: bytes).path
        let still = try RenderedStill(path, format: .tiff, reencodes: true)
        #expect([still.media.attachment?.width, still.media.attachment?.height] == [800, 600])
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12))
    }
}
