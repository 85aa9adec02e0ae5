import Foundation
import TestSupport
import Testing

/// The text output of `prepare`: source, result, reason, and the time of each stage.
@Suite(.timeLimit(.minutes(2))) struct TextOutputTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// The text of a `prepare`, with times, paths and sizes that change from run to run replaced.
    private func text(_ options: String...) async throws -> String {
        let arguments = ["prepare", "--output", "out", "--allow-private-network"] + options
        let server = try CommandBench.samples.get().url("")
        return try await bench.command(arguments).run().text
            .replacing(server, with: "http://server")
            .replacing(/out\/[0-9a-f]{32}\//, with: "out/ID/")
            .replacing(/[0-9.]+ (ms|s)\b/, with: "T")
            .replacing(/x120, [0-9,]+ bytes/, with: "x120, BYTES")
            .replacing(/time( +)T \(.*identify T, inspect T, render T, publish T\)/) { "time\($0.1)T (STAGES)" }
    }

    @Test func `The text of a success lists source, result, reason, files, warnings and times`() async throws {
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

    @Test func `The text of a conversion includes the type declared by the server`() async throws {
        let server = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.webp")))
        server.serve("/cat.jpg", .body(image, type: "image/jpeg"))
        let lines = try await text(server.url("/cat.jpg")).split(separator: "\n")
        #expect(lines.first?.hasSuffix("/cat.jpg  converted  out/ID/attachment.jpg") == true)
        #expect(lines.contains { $0.hasPrefix("  was        image/webp (declared as image/jpeg), ") })
        #expect(lines.contains("  why        image/webp is not an attachable type"))
    }

    @Test func `The text of a rejection lists the error code and the reason`() async throws {
        #expect(
            try await text(CommandBench.url("picture.jpg")) == """
                http://server/picture.jpg  rejected
                  error      media.unrecognized
                  why        The source is a web page (HTML), not an image, audio or movie file; give the URL of the \
                file itself.
                  time       T

                """)
    }

    @Test func `The text of a failed download lists the error code`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .status(403))
        let lines = try await text(server.url("/cat")).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("  error      download.http_status") })
    }

    @Test func `Results are printed in the order of the sources`() async throws {
        let server = try LoopbackServer()
        let gate = LoopbackGate { [unowned server] in server.requests(to: "/fast").count == 1 }
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        server.serve("/slow", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image).steps))
        server.serve("/fast", .body(image))
        let heads = try await text(server.url("/slow"), server.url("/fast")).split(separator: "\n")
            .filter { !$0.hasPrefix(" ") }
        #expect(heads.count == 2)
        #expect(heads.first?.contains("/slow ") == true && heads.last?.contains("/fast ") == true)
    }
}
