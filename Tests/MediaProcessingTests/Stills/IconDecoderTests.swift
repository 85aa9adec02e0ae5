import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import MediaLibraries
@testable import MediaProcessing

@Suite struct IconDecoderTests {
    private func image(_ bytes: [UInt8]) throws -> Image {
        try VipsLibrary.start()
        return try withDescriptor(GeneratedMedia.file("a.ico", bytes: bytes)) {
            try IconDecoder.image(descriptor: $0, deadline: .now + .seconds(30))
        }
    }

    private func code(_ bytes: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try image(bytes) }?.code
    }

    /// Two rows of two pixels: blue and green above, red and transparent below.
    private static let small = IconFile.bitmap(
        width: 2, height: 2,
        pixels: [0, 0, 255, 0, 0, 0, 0, 0, /* above: */ 255, 0, 0, 0, 255, 0, 0, 0],
        mask: [0b0100_0000, 0, 0, 0, 0, 0, 0, 0])

    @Test func `The mask of an icon becomes its alpha`() throws {
        let pixels = try image(IconFile.icon([(2, 2, Self.small)])).pixels()
        #expect(pixels == [0, 0, 255, 255, 0, 255, 0, 255, 255, 0, 0, 255, 0, 0, 0, 0])
    }

    @Test func `An image of 32 bits keeps its own alpha, and may lack a mask`() throws {
        let bitmap = IconFile.bitmap(width: 1, height: 1, depth: 32, pixels: [30, 20, 10, 128], mask: [])
        #expect(try image(IconFile.icon([(1, 1, bitmap)])).pixels() == [10, 20, 30, 128])
        let masked = IconFile.bitmap(
            width: 2, height: 1, depth: 32, pixels: [30, 20, 10, 0, 3, 2, 1, 0], mask: [0b0100_0000, 0, 0, 0])
        #expect(try image(IconFile.icon([(2, 1, masked)])).pixels() == [10, 20, 30, 255, 1, 2, 3, 0])
    }

    @Test func `The largest image is used, also where it is a PNG`() throws {
        let png = try [UInt8](Data(contentsOf: URL(filePath: StillFixture.sample("grid.png"))))
        let both = IconFile.icon([(2, 2, Self.small), (0, 0, png)])
        #expect(try image(both).width == 800)
        let file = try GeneratedMedia.file("both.ico", bytes: both)
        let still = try RenderedStill(file.path, format: .icon, reencodes: true)
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12))
    }

    @Test(arguments: [1, 4, 8, 24, 32]) func `Icons of every depth look like their source`(depth: Int) throws {
        let colors = depth < 24 ? ["-colors", "\(1 << depth)", "-type", "Palette"] : []
        let file = try StillFixture.converted("a.ico", ["-resize", "64x48"] + colors)
        let still = try RenderedStill(file, format: .icon, reencodes: true)
        let attachment = try still.image(.attachment)
        #expect(attachment.width == 64 && attachment.height == 48)
        if depth >= 24 { #expect(SampleMotif.cells(in: attachment) == Array(1...12)) }
    }

    @Test func `A truncated icon is corrupt, wherever it ends`() {
        let bytes = IconFile.icon([(2, 2, Self.small)])
        for count in 6..<bytes.count { #expect(code(Array(bytes.prefix(count))) == .mediaCorrupt, "\(count)") }
    }

    @Test func `A truncated or broken PNG in an icon is corrupt`() throws {
        let png = try [UInt8](Data(contentsOf: URL(filePath: StillFixture.sample("grid.png"))))
        var broken = png
        broken.replaceSubrange(png.count / 2..<png.count / 2 + 200, with: repeatElement(0xA5, count: 200))
        for damaged in [Array(png.dropLast(16)), broken] {
            let file = try GeneratedMedia.file("a.ico", bytes: IconFile.icon([(0, 0, damaged)]))
            let error = #expect(throws: AttachPrepError.self) { try RenderedStill(file.path, format: .icon) }
            #expect(error?.code == .mediaCorrupt)
        }
    }
}
