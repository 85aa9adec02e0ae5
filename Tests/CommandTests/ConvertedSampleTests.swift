import Foundation
import TestSupport
import Testing

/// Stills that iOS refuses become JPEG, or PNG where they have transparency.
@Suite(.timeLimit(.minutes(2))) struct ConvertedSampleTests {
    static let opaque = ["grid.webp", "grid.avif", "grid.heic", "grid.tiff", "grid.bmp"]

    @Test(arguments: opaque)
    func `A foreign still becomes a JPEG that begins as JFIF`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let attachment = try #require(manifest.attachment)
        let path = try await PreparedSamples.bench.path(manifest, attachment.file)
        let bytes = try Data(contentsOf: URL(filePath: path))
        #expect(manifest.outcome == "converted")
        #expect(bytes.starts(with: [0xff, 0xd8, 0xff, 0xe0]) && bytes[6..<11] == Data("JFIF\0".utf8))
        #expect(attachment.file == "attachment.jpg" && attachment.uti == "public.jpeg")
        #expect(attachment.mimeType == "image/jpeg" && manifest.options?.typeHint == "public.jpeg")
        #expect(attachment.bytes == bytes.count)
        #expect(attachment.sha256 != manifest.source.sha256)
    }

    @Test(arguments: opaque)
    func `A converted still looks like its source and is as large`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let converted = try await PreparedSamples.bench.attachment(manifest)
        let grid = try await CommandBench.picture(ofSample: "grid.png")
        let side = name == "grid.bmp" ? (320, 240) : (800, 600)
        #expect((converted.width, converted.height) == side)
        #expect((manifest.attachment?.width, manifest.attachment?.height) == side)
        let distance = PictureDistance(converted, grid)
        #expect(distance.mean < 2 && distance.blockMax < 12, "\(distance)")
        #expect(SampleMotif.cells(in: converted) == Array(1...12))
    }

    @Test func `A transparent still becomes a PNG with the same transparency`() async throws {
        let manifest = try await PreparedSamples.manifest("transparent.webp")
        let attachment = try #require(manifest.attachment)
        let picture = try await PreparedSamples.bench.attachment(manifest)
        let source = try await CommandBench.picture(ofSample: "transparent.webp")
        #expect(manifest.outcome == "converted")
        #expect(attachment.file == "attachment.png" && attachment.uti == "public.png")
        #expect(PictureDistance(picture, source).blockMax < 4)
        #expect(picture.alpha(atUnitX: 0.1, y: 0.1) == 255)
        #expect(picture.alpha(atUnitX: 0.5, y: 0.5) == 0)
        #expect(abs(picture.alpha(atUnitX: 0.5, y: 0.9) - 128) < 1)
    }

    @Test func `The thumbnail of a transparent still is a transparent PNG`() async throws {
        let manifest = try await PreparedSamples.manifest("transparent.webp")
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect(manifest.thumbnail?.file == "thumbnail.png" && manifest.thumbnail?.mimeType == "image/png")
        #expect(thumbnail.alpha(atUnitX: 0.5, y: 0.5) < 2)
        #expect(thumbnail.alpha(atUnitX: 0.1, y: 0.1) == 255)
    }

    @Test(arguments: opaque + ["transparent.webp"])
    func `The reason says what was not attachable`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        #expect(manifest.reasons.first?.contains(try #require(manifest.source.mimeType)) == true)
    }

    @Test func `With --unsupported reject a foreign still is refused`() async throws {
        let bench = try CommandBench()
        try await bench.expectRejection(
            "media.unsupported", of: CommandBench.url("grid.webp"), "--unsupported", "reject")
    }

    @Test func `A picture over --max-bytes is shrunk under it`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--max-bytes", "20000")
        let picture = try await bench.attachment(manifest)
        #expect(manifest.outcome == "shrunk")
        #expect(try #require(manifest.attachment).bytes <= 20000)
        #expect(abs(picture.width * 3 - picture.height * 4) <= 4)
        #expect(SampleMotif.cells(in: picture) == Array(1...12))
    }
}
