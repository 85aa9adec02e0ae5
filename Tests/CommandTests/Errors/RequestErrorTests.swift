import Foundation
import TestSupport
import Testing

/// Invalid lines of a batch: each is a rejected request, and the others are processed.
@Suite(.timeLimit(.minutes(2))) struct RequestErrorTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    @Test(arguments: [
        #"{"source": "#, #"{"id": "x"}"#, #"{"source": "cat.jpg", "tint": "red"}"#, #"{"source": 7}"#,
        #"{"source": "cat.jpg", "id": "../up"}"#, #"{"source": "cat.jpg", "id": ".hidden"}"#,
        #"{"source": "cat.jpg", "id": ""}"#, #"{"source": "cat.jpg", "budget": 0}"#,
        #"{"source": "cat.jpg", "budget": -1}"#, #"{"source": "cat.jpg", "budget": 100000}"#,
        #"{"source": "cat.jpg", "maxBytes": 0}"#, #"{"source": "cat.jpg", "oversize": "maybe"}"#,
        #"{"source": "cat.jpg", "options": {"thumbnailtime": 3}}"#, #"{"source": "cat.jpg", "headers": {"a b": "c"}}"#,
        #"{"source": "cat.jpg", "headers": {"a": "b\r\nHost: evil"}}"#,
        #"{"source": "cat.jpg", "rendition": "poster"}"#, #"{"source": "cat.jpg", "network": "5g"}"#,
        #"{"source": "cat.jpg", "deviceBudget": 0}"#, #"{"source": "cat.jpg", "callbackURL": "https://a/"}"#,
        #"{"source": "cat.jpg"} {"source": "dog.jpg"}"#,
    ])
    func `An invalid line is request.invalid`(line: String) async throws {
        try await expectLine(line, rejectedAs: "request.invalid")
    }

    @Test(arguments: [
        (#"{"x": -0.1, "y": 0, "width": 1, "height": 1}"#, "options.invalid_clipping_rect"),
        (#"{"x": 0, "y": 0, "width": 0, "height": 1}"#, "options.invalid_clipping_rect"),
        (#"{"x": 0.5, "y": 0, "width": 0.6, "height": 1}"#, "options.invalid_clipping_rect"),
    ])
    func `An invalid rectangle in a line has its own code`(rect: String, code: String) async throws {
        try await expectLine(#"{"source": "cat.jpg", "options": {"crop": \#(rect)}}"#, rejectedAs: code)
    }

    @Test func `An invalid time or size in a line has its own code`() async throws {
        try await expectLine(
            #"{"source": "cat.jpg", "options": {"thumbnailTime": -1}}"#, rejectedAs: "options.invalid_time")
        try await expectLine(
            #"{"source": "cat.jpg", "options": {"thumbnailSize": {"width": 0, "height": 1}}}"#,
            rejectedAs: "options.invalid_size")
    }

    @Test func `A line over 64 KiB is request.too_large`() async throws {
        let long = String(repeating: "x", count: 66_000)
        try await expectLine(#"{"source": "http://127.0.0.1/\#(long)"}"#, rejectedAs: "request.too_large")
        try await expectLine("http://127.0.0.1/\(long)", rejectedAs: "request.too_large")
    }

    @Test func `The error message has the number of the line and the unknown key`() async throws {
        let list = try bench.folder.write("\n# one\n{\"source\": \"a\", \"sauce\": 1}\n", to: "list")
        let result = try await bench.command(bench.arguments("batch", [list])).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        let message = try #require(manifest.error?.message)
        #expect(message.contains("3") && message.contains("sauce"), "\(message)")
    }

    private func expectLine(
        _ line: String, rejectedAs code: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let list = try bench.folder.write(line + "\n", to: "list")
        let result = try await bench.command(bench.arguments("batch", [list])).run()
        let printed = try #require(result.lines.first, "\(result.errorText)", sourceLocation: sourceLocation)
        bench.expect(try PrintedManifest(line: printed), rejectedAs: code, sourceLocation: sourceLocation)
        #expect(result.exitCode == 1, sourceLocation: sourceLocation)
        #expect(try bench.leftovers() == [], sourceLocation: sourceLocation)
    }
}
