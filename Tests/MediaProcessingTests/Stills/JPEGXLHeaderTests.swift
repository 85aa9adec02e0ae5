import AttachPrepModel
import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// Headers of JPEG XLs by libjxl's cjxl: what libvips would show wrongly is rejected.
struct JPEGXLHeaderTests {
    private func path(_ source: String, _ arguments: [String] = []) throws -> String {
        let path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).jxl").path
        try GeneratedMedia.run("cjxl", [source, path, "--quiet"] + arguments)
        return path
    }

    private func header(_ path: String) throws -> JPEGXLHeader {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        return try JPEGXLHeader.parse(ByteWindow(bytes: bytes, noun: "JPEG XL image"))
    }

    private func inspected(_ path: String) throws -> InspectedMedia? {
        try withDescriptor(URL(fileURLWithPath: path)) { descriptor in
            let call = MediaCall.inspect(InspectRequest(format: .jpegXL, decodesStills: true))
            let answer = try MediaProcessor().perform(call, descriptors: [descriptor], deadline: .now + .seconds(30))
            guard case .inspected(let media, _) = answer else { return nil }
            return media
        }
    }

    private func png(_ arguments: [String], name: String = "a.png") throws -> String {
        try StillFixture.converted(name, arguments)
    }

    /// 16 bits in a color space; only in a file without colors of its own is it used.
    private func deep(_ space: String) throws -> String {
        let isGray = space.hasPrefix("Gra")
        let colors = isGray ? ["-colorspace", "Gray"] : []
        let source = try png(["-depth", "16", "-strip"] + colors, name: isGray ? "a.pgm" : "a.ppm")
        return try path(source, ["-x", "color_space=\(space)"])
    }

    @Test(arguments: [(800, 600), (64, 64), (257, 100), (1, 1), (1600, 900), (2_000, 1_000), (300, 9_000)])
    func `The size is read in each of its forms`(width: Int, height: Int) throws {
        let found = try header(path(png(["-resize", "\(width)x\(height)!"])))
        #expect((found.width, found.height) == (width, height))
        #expect(found.bitDepth == 8 && !found.hasAlpha && !found.isAnimated && !found.isHDR && !found.hasBlack)
    }

    @Test(arguments: [["-d", "0"], ["-d", "1"], ["-d", "1", "--container=1"]])
    func `Depth and alpha are read, lossless and lossy, bare and in boxes`(arguments: [String]) throws {
        let deep = try header(path(png(["-depth", "16", "-channel", "R", "-evaluate", "add", "1"]), arguments))
        #expect(deep.bitDepth == 16 && !deep.hasAlpha)
        let clear = ["-alpha", "set", "-channel", "A", "-evaluate", "set", "40%"]
        #expect(try header(path(png(clear), arguments)).hasAlpha)
        #expect(try header(path(png(["-colorspace", "Gray"]), arguments)).width == 800)
    }

    @Test(arguments: ["RGB_D65_202_Rel_PeQ", "RGB_D65_202_Rel_HLG", "RGB_D65_DCI_Rel_PeQ"])
    func `PQ and HLG are unsupported, and the error says what to send`(space: String) throws {
        let image = try deep(space)
        let found = try header(image)
        #expect(found.isHDR && found.bitDepth == 16)
        let error = #expect(throws: AttachPrepError.self) { try inspected(image) }
        #expect(error?.code == .mediaUnsupported && error?.message.contains("HDR") == true)
    }

    @Test(arguments: ["RGB_D65_SRG_Rel_SRG", "RGB_D65_DCI_Per_Lin", "Gra_D65_Rel_SRG", "RGB_D65_SRG_Rel_g0.45455"])
    func `Other color spaces are read to their end`(space: String) throws {
        let image = try deep(space)
        #expect(try !header(image).isHDR)
        #expect(try inspected(image)?.width == 800)
    }

    @Test func `An animation is unsupported, and the error says what to send`() throws {
        let image = try path(AnimationFixture.gif(["-gifflags", "0"]), ["-d", "0"])
        #expect(try header(image).isAnimated)
        let error = #expect(throws: AttachPrepError.self) { try inspected(image) }
        #expect(error?.code == .mediaUnsupported && error?.message.contains("animated") == true)
    }

    @Test func `A turned JPEG in a JPEG XL keeps its stored size`() throws {
        let found = try header(path(StillFixture.sample("orientation-6.jpg")))
        let stored = try JPEGSegments.parseHeader(
            ByteWindow(
                bytes: [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("orientation-6.jpg")))),
                noun: "JPEG"))
        #expect((found.width, found.height) == (stored.width, stored.height))
    }

    @Test func `A header that is cut anywhere is corrupt`() throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: deep("RGB_D65_202_Rel_PeQ"))))
        for count in 0..<8 {
            let window = ByteWindow(bytes: Array(bytes.prefix(count)), noun: "JPEG XL image")
            #expect(#expect(throws: AttachPrepError.self) { try JPEGXLHeader.parse(window) }?.code == .mediaCorrupt)
        }
    }
}
