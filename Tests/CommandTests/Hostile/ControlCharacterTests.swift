import Foundation
import TestSupport
import Testing

/// No output contains a control character that came from outside: terminals obey them.
@Suite(.timeLimit(.minutes(2))) struct ControlCharacterTests {
    let bench: CommandBench
    let server: LoopbackServer

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
    }

    /// All of C0 without those that end a header line, DEL, and all of C1, between letters.
    private static let controls: String = {
        let values = Array(UInt32(1)..<0x20).filter { $0 != 10 && $0 != 13 } + Array(0x7F...0x9F)
        return values.compactMap(Unicode.Scalar.init).map { "a\($0)" }.joined()
    }()

    /// The characters that a command printed and must not print; its own lines end with line feeds.
    private func controls(in result: CommandResult) -> [Unicode.Scalar] {
        (result.text + result.errorText).unicodeScalars.filter { scalar in
            scalar != "\n" && scalar != "\t" && scalar.properties.generalCategory == .control
        }
    }

    private static let responses: [(name: String, response: LoopbackResponse)] = [
        ("a redirect", .raw("HTTP/1.1 302 Found\r\nLocation: \(controls)\r\nContent-Length: 0\r\n\r\n")),
        ("a redirect's scheme", .raw("HTTP/1.1 302 Found\r\nLocation: a\(controls)://b\r\nContent-Length: 0\r\n\r\n")),
        ("a status", .raw("HTTP/1.1 404 \(controls)\r\nContent-Length: 0\r\n\r\n")),
        ("a type", .raw("HTTP/1.1 200 OK\r\nContent-Type: \(controls)\r\nContent-Length: 3\r\n\r\nabc")),
        ("a coding", .raw("HTTP/1.1 200 OK\r\nContent-Encoding: \(controls)\r\nContent-Length: 3\r\n\r\nabc")),
        ("a header's name", .raw("HTTP/1.1 200 OK\r\n\(controls): a\r\nContent-Length: 3\r\n\r\nabc")),
        ("an answer that is not HTTP", .raw("\(controls)\r\n\r\n")),
        ("a body", .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\u{1B}[2")),
    ]

    @Test(arguments: responses.indices, ["text", "json"])
    func `What a server sends reaches the terminal escaped`(index: Int, format: String) async throws {
        let (name, response) = Self.responses[index]
        server.serve("*", response)
        let source = server.url("/cat")
        let options = ["--format", format, "--verbose", source]
        let result = try await bench.command(bench.arguments("prepare", options)).run()
        #expect(controls(in: result) == [], "\(name): \(result.errorText)")
        #expect(!result.lines.isEmpty)
    }

    @Test(arguments: ["text", "json"]) func `What a list contains reaches the terminal escaped`(format: String)
        async throws
    {
        let list = "http://127.0.0.1:1/\(Self.controls)\n/no/such/\(Self.controls)\n\(Self.controls)\n"
        let command = try bench.command(
            bench.arguments("batch", ["--format", format, "--verbose", "-"]), input: list)
        let result = try await command.run()
        #expect(controls(in: result) == [], "\(result.errorText)")
    }

    @Test(arguments: ["text", "json"]) func `What a service answers reaches the terminal escaped`(format: String)
        async throws
    {
        let text = Self.controls.unicodeScalars.map { scalar in
            scalar.value < 0x20 ? "\\u00" + String(scalar.value + 0x100, radix: 16).dropFirst() : "\(scalar)"
        }.joined()
        let problem = "{\"code\":\"request.invalid\",\"detail\":\"\(text)\"}"
        let head = "HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: \(problem.utf8.count)"
        server.serve("*", .raw("\(head)\r\n\r\n\(problem)"))
        let result = try await bench.run(
            "jobs", "list", "--url", server.url(""), "--format", format)
        #expect(result.exitCode == 1 && controls(in: result) == [], "\(result.errorText)")
    }

    @Test func `A redirect to a scheme of 65,000 letters makes a short message`() async throws {
        let scheme = String(repeating: "s", count: 65_000)
        server.serve("*", .raw("HTTP/1.1 302 Found\r\nLocation: \(scheme)://b\r\nContent-Length: 0\r\n\r\n"))
        let result = try await bench.command(bench.arguments("prepare", ["--verbose", server.url("/cat")])).run()
        #expect(result.output.count + result.errorOutput.count < 8_000, "\(result.errorText.prefix(500))")
    }
}
