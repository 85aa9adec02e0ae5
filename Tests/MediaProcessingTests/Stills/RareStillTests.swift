import AttachPrepModel
import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// Stills in codings that few programs know: converted where they decode, else unsupported, never called damaged.
@Suite struct RareStillTests {
    private func inspected(_ path: String, _ format: MediaFormat) throws -> InspectedMedia? {
        try withDescriptor(URL(fileURLWithPath: path)) { descriptor in
            let call = MediaCall.inspect(InspectRequest(format: format, decodesStills: true))
            let answer = try MediaProcessor().perform(call, descriptors: [descriptor], deadline: .now + .seconds(30))
            guard case .inspected(let media, _) = answer else { return nil }
            return media
        }
    }

    private func withoutHuffmanTables(_ bytes: [UInt8]) -> [UInt8] {
        var (kept, offset) = (Array(bytes[..<2]), 2)
        while bytes[offset + 1] != 0xDA {
            let length = 2 + Int(bytes[offset + 2]) << 8 + Int(bytes[offset + 3])
            if bytes[offset + 1] != 0xC4 { kept += bytes[offset..<offset + length] }
            offset += length
        }
        return kept + bytes[offset...]
    }

    private func arithmetic(_ arguments: [String] = []) throws -> String {
        let path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-arithmetic.jpg").path
        let source = StillFixture.sample("grid.jpg")
        try GeneratedMedia.run("jpegtran", ["-arithmetic"] + arguments + ["-outfile", path, source])
        return path
    }

    @Test func `A JPEG that is coded arithmetically, or without Huffman tables, is converted`() throws {
        let plain = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-plain.jpg").path
        try GeneratedMedia.run("cjpeg", ["-outfile", plain, StillFixture.converted("a.ppm", ["-depth", "8"])])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: plain)))
        let bare = try GeneratedMedia.file("bare.jpg", bytes: withoutHuffmanTables(bytes)).path
        for path in [try arithmetic(), try arithmetic(["-progressive"]), bare] {
            #expect(try inspected(path, .jpeg)?.containerDefect == .rareCoding)
            let still = try RenderedStill(path, format: .jpeg, reencodes: true)
            #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12))
        }
        #expect(try inspected(plain, .jpeg)?.containerDefect == nil)
    }

    @Test func `Lossless JPEG, JPEG-LS, JPEGs with DNL and the PNGs of Xcode are unsupported`() throws {
        let source = ["-i", StillFixture.sample("grid.png")]
        let lossless = try GeneratedMedia.file(
            "lossless.jpg", source + ["-pix_fmt", "bgr24", "-c:v", "ljpeg", "-f", "image2"])
        let nearLossless = try GeneratedMedia.file("ls.jls", source + ["-c:v", "jpegls", "-f", "image2"])
        var png = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("grid.png"))))
        png.insert(contentsOf: MediaBytes.png("CgBI", [0x50, 0, 0x20, 2]), at: 8)
        var jpeg = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("grid.jpg"))))
        let frame = try #require(jpeg.firstRange(of: [0xFF, 0xC0, 0, 17]) ?? jpeg.firstRange(of: [0xFF, 0xC2, 0, 17]))
        jpeg.replaceSubrange(frame.upperBound + 1..<frame.upperBound + 3, with: [0, 0])
        let files =
            [(lossless, MediaFormat.jpeg), (nearLossless, .jpeg)]
            + [(try GeneratedMedia.file("height-later.jpg", bytes: jpeg), .jpeg)]
            + [(try GeneratedMedia.file("xcode.png", bytes: png), .png)]
        for (file, format) in files {
            let error = #expect(throws: AttachPrepError.self) { try inspected(file.path, format) }
            #expect(error?.code == .mediaUnsupported, "\(file.lastPathComponent): \(error as Any)")
        }
    }

    @Test func `A JPEG of 200 megapixels has a thumbnail`() throws {
        let path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-large.jpg").path
        try GeneratedMedia.run("vips", ["black", path, "16320", "12240", "--bands", "3"])
        let media = try #require(try inspected(path, .jpeg))
        #expect((media.width, media.height) == (16_320, 12_240))
        #expect(try RenderedStill(path, format: .jpeg).media.thumbnail?.width == 300)
    }

    @Test func `An image of which nothing is visible has a warning, also unchanged`() throws {
        let clear = try StillFixture.converted(
            "clear.png", ["-alpha", "set", "-channel", "A", "-evaluate", "set", "0", "-define", "png:color-type=6"])
        for reencodes in [true, false] {
            let still = try RenderedStill(clear, format: .png, reencodes: reencodes)
            #expect(still.media.warnings.map(\.code) == [.imageInvisible])
        }
        let half = try StillFixture.converted(
            "half.png", ["-alpha", "set", "-channel", "A", "-evaluate", "set", "50%", "-define", "png:color-type=6"])
        #expect(try RenderedStill(half, format: .png).media.warnings.isEmpty)
    }

    @Test(arguments: [(40, true), (255, false)])
    func `An animation that loses its partial transparency has a warning`(alpha: Int, isWarned: Bool) throws {
        let filter = "format=rgba,colorchannelmixer=aa=\(Double(alpha) / 255)"
        let source = try GeneratedMedia.file(
            "soft.webp", ["-i", AnimationFixture.moving(), "-vf", filter, "-c:v", "libwebp_anim", "-lossless", "1"])
        let animation = try RenderedAnimation(source.path, format: .webp)
        #expect(animation.media.warnings.contains { $0.code == .transparencyLost } == isWarned)
    }

    @Test func `A first frame of a GIF that is larger than the canvas is shown whole`() throws {
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("grid.gif"))))
        // Width and height of the canvas.
        bytes.replaceSubrange(6..<10, with: [100, 0, 80, 0])
        let path = try GeneratedMedia.file("beyond.gif", bytes: bytes).path
        let media = try #require(try inspected(path, .gif))
        #expect((media.width, media.height) == (800, 600))
        let still = try RenderedStill(path, format: .gif, side: 800)
        #expect(SampleMotif.cells(in: try still.image(.thumbnail)) == Array(1...12))
    }
}
