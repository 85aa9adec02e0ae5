import Foundation
import TestSupport
import Testing

/// Stills that are not attachable become JPEG, or PNG if they have transparency.
@Suite(.timeLimit(.minutes(2))) struct ConvertedStillTests {
    static let opaque = Sample.convertedStills.map(\.file)

    @Test(arguments: opaque)
    func `A still that is not attachable becomes a JPEG with a JFIF header`(name: String) async throws {
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

    @Test(arguments: opaque.filter { $0 != "grid.ico" })
    func `A converted still has the pixels and the size of its source`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let converted = try await PreparedSamples.bench.attachment(manifest)
        let grid = try await CommandBench.image(ofSample: "grid.png")
        #expect([converted.width, converted.height] == Sample.size(of: name))
        #expect([manifest.attachment?.width, manifest.attachment?.height] == Sample.size(of: name))
        let distance = ImageDistance(converted, grid)
        #expect(distance.mean < 2 && distance.blockMax < 12, "\(distance)")
        #expect(SampleMotif.cells(in: converted) == Array(1...12))
    }

    @Test func `A transparent still becomes a PNG with the same transparency`() async throws {
        let manifest = try await PreparedSamples.manifest("transparent.webp")
        let attachment = try #require(manifest.attachment)
        let image = try await PreparedSamples.bench.attachment(manifest)
        let source = try await CommandBench.image(ofSample: "transparent.webp")
        #expect(manifest.outcome == "converted")
        #expect(attachment.file == "attachment.png" && attachment.uti == "public.png")
        #expect(ImageDistance(image, source).blockMax < 4)
        #expect(image.alpha(atUnitX: 0.1, y: 0.1) == 255)
        #expect(image.alpha(atUnitX: 0.5, y: 0.5) == 0)
        #expect(abs(image.alpha(atUnitX: 0.5, y: 0.9) - 128) < 1)
    }

    @Test func `The thumbnail of a transparent still is a transparent PNG`() async throws {
        let manifest = try await PreparedSamples.manifest("transparent.webp")
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect(manifest.thumbnail?.file == "thumbnail.png" && manifest.thumbnail?.mimeType == "image/png")
        #expect(thumbnail.alpha(atUnitX: 0.5, y: 0.5) < 2)
        #expect(thumbnail.alpha(atUnitX: 0.1, y: 0.1) == 255)
    }

    @Test(arguments: opaque + ["transparent.webp"])
    func `The reason names the type that is not attachable`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        #expect(manifest.reasons.first?.contains(try #require(manifest.source.mimeType)) == true)
    }

    @Test func `With --unsupported reject, a still that is not attachable is rejected`() async throws {
        let bench = try CommandBench()
        try await bench.expectRejection(
            "media.unsupported", of: CommandBench.url("grid.webp"), "--unsupported", "reject")
    }

    @Test func `A still over --max-bytes is shrunk below it`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--max-bytes", "20000")
        let image = try await bench.attachment(manifest)
        #expect(manifest.outcome == "shrunk")
        #expect(try #require(manifest.attachment).bytes <= 20000)
        #expect(abs(image.width * 3 - image.height * 4) <= 4)
        #expect(SampleMotif.cells(in: image) == Array(1...12))
    }
}

/// Animations that iOS rejects or shows as stills become GIF, or with `--animation` a movie or a still.
@Suite(.timeLimit(.minutes(2))) struct ConvertedAnimationTests {
    @Test(arguments: ["counter.webp", "counter.apng.png"])
    func `A WebP or PNG animation becomes a GIF with the same frames and delays`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        let gif = try await ProbedMedia(PreparedSamples.bench.path(manifest, attachment.file))
        #expect(manifest.outcome == "converted" && attachment.uti == "com.compuserve.gif")
        #expect(attachment.file == "attachment.gif" && attachment.frames == 12 && gif.frames == 12)
        #expect(abs(gif.duration - 2.4) < 0.01 && abs((attachment.duration ?? 0) - 2.4) < 0.01)
        let first = try await PreparedSamples.bench.attachment(manifest)
        #expect(SampleMotif.cells(in: first) == Array(1...12))
    }

    @Test(arguments: ["counter.webp", "counter.apng.png", "counter.gif"])
    func `With --animation mp4, an animation becomes a movie`(name: String) async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url(name), "--animation", "mp4", "--thumbnail-time", "9")
        let attachment = try #require(manifest.attachment)
        let movie = try await ProbedMedia(bench.path(manifest, attachment.file))
        #expect(manifest.outcome == "converted" && attachment.uti == "public.mpeg-4" && movie.frames == 12)
        #expect(abs(movie.duration - 2.4) < 0.05)
        #expect(manifest.options?.movieTime == .init(value: 1080, timescale: 600, epoch: 0, flags: 1))
        #expect(try await movie.warnings() == "")
    }

    @Test func `With --animation still, an animation becomes a still, with a warning`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("counter.webp"), "--animation", "still")
        #expect(manifest.outcome == "converted" && manifest.attachment?.frames == 1)
        #expect(manifest.warningCodes == ["animation.lost"] && manifest.options?.frame == nil)
        #expect(SampleMotif.cells(in: try await bench.attachment(manifest)) == Array(1...12))
    }

    @Test func `A GIF over --max-bytes is shrunk below it`() async throws {
        let bench = try CommandBench()
        let manifest = try await bench.prepare(CommandBench.url("counter.gif"), "--max-bytes", "9000")
        let attachment = try #require(manifest.attachment)
        #expect(manifest.outcome == "shrunk" && attachment.bytes <= 9000 && attachment.uti == "com.compuserve.gif")
        #expect(manifest.reasons.count > 1)
    }
}
