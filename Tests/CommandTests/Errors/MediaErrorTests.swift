import Foundation
import TestSupport
import Testing

/// Sources that are not media, or not media that can be shown.
@Suite(.timeLimit(.minutes(3))) struct MediaErrorTests {
    let bench: CommandBench
    let server: LoopbackServer

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
    }

    private func expectRejection(
        _ code: String, of body: Data, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        server.serve("/cat.jpg", .body(body, type: "image/jpeg"))
        let manifest = try await bench.prepare(server.url("/cat.jpg"), options: options)
        bench.expect(manifest, rejectedAs: code, sourceLocation: sourceLocation)
        #expect(try bench.leftovers() == [], sourceLocation: sourceLocation)
    }

    @Test func `An empty file is media.empty`() async throws {
        try await expectRejection("media.empty", of: Data())
    }

    @Test(arguments: [
        "<!DOCTYPE html><html><body>Sign in</body></html>", "\u{FEFF}\n <html lang=en><head></head></html>",
        #"{"error": "not found"}"#, "[1, 2, 3]", "Not found\n", "<?xml version=\"1.0\"?><Error><Code>x</Code></Error>",
        "#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/a.ts\n", "%PDF-1.4\n", "x",
    ])
    func `Text with an image's name is media.unrecognized`(text: String) async throws {
        try await expectRejection("media.unrecognized", of: Data(text.utf8))
    }

    @Test(arguments: [
        ("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n", "The source is a playlist (M3U or M3U8)"),
        ("page.html", "<!doctype html><html><head><meta property=og:image content=/a.png>", "The source is a web page"),
    ])
    func `A playlist and a web page are rejected with what to give, as a URL and as a file`(
        name: String, text: String, sentence: String
    ) async throws {
        server.serve("/\(name)", .body(Data(text.utf8), type: "text/plain"))
        for source in [server.url("/\(name)"), try bench.folder.write(text, to: name)] {
            let manifest = try await bench.prepare(source)
            bench.expect(manifest, rejectedAs: "media.unrecognized")
            let message = try #require(manifest.error?.message)
            #expect(message.hasPrefix(sentence) && message.contains("; give the URL of "), "\(message)")
        }
        // Nothing that it names is requested.
        #expect(server.requests.map(\.path) == ["/\(name)"])
    }

    @Test func `An archive is media.unrecognized`() async throws {
        try await expectRejection("media.unrecognized", of: HandmadeMedia.zip)
    }

    @Test func `Random bytes are media.unrecognized`() async throws {
        let noise = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
        try await expectRejection("media.unrecognized", of: noise)
    }

    @Test(arguments: ["<!DOCTYPE html><html><body>", "#EXTM3U\n#EXTINF:4,\n", #"{"error": ["#, "Please sign in. "])
    func `A text that never ends is rejected after its first kilobytes`(beginning: String) async throws {
        let page = Data(beginning.utf8) + Data(repeatElement(Array("lorem ipsum ".utf8), count: 800).joined())
        let never = LoopbackGate()
        let head = LoopbackResponse.head(200, ["Content-Type": "image/jpeg", "Content-Length": "40000000"])
        // Only these ten kilobytes are ever sent.
        server.serve("/cat.jpg", head.then(.send(page), .wait(never)))
        let manifest = try await bench.prepare(server.url("/cat.jpg"), "--budget", "25s")
        bench.expect(manifest, rejectedAs: "media.unrecognized")
        #expect(server.requests.count == 1)
        #expect(try bench.leftovers() == [])
    }

    @Test func `A known format that cannot be decoded is media.unsupported`() async throws {
        try await expectRejection("media.unsupported", of: HandmadeMedia.midi)
    }

    @Test func `A drawing with text is media.unsupported, and says what to do`() async throws {
        let drawing = #"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">a</text></svg>"#
        try await expectRejection("media.unsupported", of: Data(drawing.utf8))
        try await expectRejection("media.unsupported", of: Data(("<?xml version=\"1.0\"?>\n" + drawing).utf8))
    }

    @Test func `An encrypted movie is media.encrypted`() async throws {
        try await expectRejection("media.encrypted", of: Data(contentsOf: await HandmadeMedia.encryptedMovie()))
    }

    @Test(arguments: [(30_000, 30_000), (2_000_000_000, 1), (65_501, 10)])
    func `An image too large to decode is media.too_many_pixels`(width: Int, height: Int) async throws {
        try await expectRejection("media.too_many_pixels", of: HandmadeMedia.png(width: width, height: height))
    }

    @Test func `An animation of 5,000 frames is media.too_many_frames, one of 4,096 is not`() async throws {
        try await expectRejection("media.too_many_frames", of: HandmadeMedia.gif(frames: 5_000))
        server.serve("/good.gif", .body(HandmadeMedia.gif(frames: 4_096)))
        let manifest = try await bench.prepare(server.url("/good.gif"))
        #expect(manifest.outcome == "passed" && manifest.attachment?.frames == 4_096)
    }

    @Test func `Audio of five hours is media.too_long`() async throws {
        try await expectRejection("media.too_long", of: HandmadeMedia.wave(seconds: 5 * 3600))
    }

    @Test func `A source over the limit that may not or cannot be shrunk is limit.exceeded`() async throws {
        let movie = try Data(contentsOf: URL(filePath: SourceTree.sample("clock.mp4")))
        try await expectRejection("limit.exceeded", of: movie, "--max-bytes", "40000", "--oversize", "reject")
        try await expectRejection("limit.exceeded", of: movie, "--max-bytes", "400")
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        try await expectRejection("limit.exceeded", of: image, "--max-bytes", "40000", "--oversize", "reject")
    }
}
