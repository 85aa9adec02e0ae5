import Foundation
import TestSupport
import Testing

/// What a person reads: what it was, what became of it, why, and how long each stage took.
@Suite(.timeLimit(.minutes(2))) struct TextOutputTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// The text of a `prepare`, with times and places that change from run to run replaced.
    private func text(_ arguments: String...) async throws -> String {
        let words = ["prepare", "--output", "out", "--allow-private-network"] + arguments
        let server = try CommandBench.samples.get().url("")
        return try await bench.command(words).run().text
            .replacing(server, with: "http://server")
            .replacing(/out\/[0-9a-f]{32}\//, with: "out/ID/")
            .replacing(/[0-9.]+ (ms|s)\b/, with: "T")
            .replacing(/x120, [0-9,]+ bytes/, with: "x120, BYTES")
            .replacing(/time( +)T \(.*identify T, inspect T, render T, publish T\)/) { "time\($0.1)T (STAGES)" }
    }

    @Test func `A success reads like this`() async throws {
        let url = try CommandBench.url("clock.mp4")
        #expect(
            try await text("--thumbnail-time", "99", "--crop", "0,0,0.5,0.5", url) == """
                http://server/clock.mp4  passed  out/ID/attachment.mp4
                  was        video/mp4, 42,754 bytes
                  became     public.mpeg-4, 42,754 bytes, 320x240, T
                  why        video/mp4 is attachable and 42,754 bytes are within 50,000,000
                  thumbnail  thumbnail.jpg, 160x120, BYTES, at 3.96
                  crop       crop.jpg, 160x120, BYTES
                  warning    time.past_end: The thumbnail time T is past the end; it shows the movie's last frame.
                  on device  3g T, lte T, wifi T
                  time       T (STAGES)

                """)
    }

    @Test func `A conversion says what the server claimed`() async throws {
        let server = try LoopbackServer()
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.webp")))
        server.serve("/cat.jpg", .body(picture, type: "image/jpeg"))
        let lines = try await text(server.url("/cat.jpg")).split(separator: "\n")
        #expect(lines.first?.hasSuffix("/cat.jpg  converted  out/ID/attachment.jpg") == true)
        #expect(lines.contains { $0.hasPrefix("  was        image/webp (declared as image/jpeg), ") })
        #expect(lines.contains("  why        image/webp is not an attachable type"))
    }

    @Test func `A rejection reads like this`() async throws {
        #expect(
            try await text(CommandBench.url("picture.jpg")) == """
                http://server/picture.jpg  rejected
                  error      media.unrecognized
                  why        The source is text/html, not an image, audio or movie file; check that the URL leads to \
                the file.
                  time       T

                """)
    }

    @Test func `A failure that may pass says so`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .status(403))
        let lines = try await text(server.url("/cat")).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("  error      download.http_status") })
    }

    @Test func `Results come in the order of the sources`() async throws {
        let server = try LoopbackServer()
        let gate = LoopbackGate { [unowned server] in server.requests(to: "/fast").count == 1 }
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        server.serve("/slow", LoopbackAnswer([.wait(gate)] + LoopbackAnswer.body(picture).steps))
        server.serve("/fast", .body(picture))
        let heads = try await text(server.url("/slow"), server.url("/fast")).split(separator: "\n")
            .filter { !$0.hasPrefix(" ") }
        #expect(heads.count == 2)
        #expect(heads.first?.contains("/slow ") == true && heads.last?.contains("/fast ") == true)
    }
}
