import Foundation
import TestSupport
import Testing

/// The clients of `samples/clients`, against the real service.
@Suite(.timeLimit(.minutes(3))) struct ClientSampleTests {
    private static let token = "0123456789abcdef0123456789abcdef"
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    @Test(arguments: SampleClient.allCases)
    func `A sample client downloads its attachment, and prints the error of a rejected source`(client: SampleClient)
        async throws
    {
        let service = try await bench.start(environment: ["ATTACHPREP_TOKENS": Self.token])
        try bench.folder.makeFolder("out")
        let arguments = [try ServiceBench.url("grid.heic"), bench.folder.path("out")]
        let prepared = try await client.command(arguments, at: service.url, token: Self.token).run()
        let image = try bench.folder.bytes(of: "out/attachment.jpg")
        #expect(prepared.exitCode == 0, "\(prepared.errorText)")
        #expect(prepared.text == "converted: \(bench.folder.path("out/attachment.jpg")), \(image.count) bytes\n")
        #expect(image.starts(with: [0xff, 0xd8, 0xff, 0xe0]))

        let rejected = try await client.command(
            [try ServiceBench.url("nothing.jpg")], at: service.url, token: Self.token
        ).run()
        #expect(rejected.exitCode == 1)
        #expect(rejected.errorText.hasPrefix("rejected: source.not_found: "), "\(rejected.errorText)")

        let denied = try await client.command(arguments, at: service.url, token: "another-token-for-tests").run()
        #expect(denied.exitCode != 0 && denied.errorText.contains("answered 401"), "\(denied.errorText)")
        try await service.stop()
    }

    @Test(arguments: SampleClient.allCases)
    func `A sample client retries with the same idempotency key, polls a slow job and checks the digest`(
        client: SampleClient
    ) async throws {
        let server = try LoopbackServer()
        let file = Data("a picture".utf8)
        let digest = "92b2fa58028958317e408bd84ecfa70f5ee35b121991dbc232c49d166353708b"
        let manifest = """
            {"outcome": "passed", "error": null, "attachment": {"file": "attachment.gif", "bytes": 9,
            "url": "\(server.url("/media/x/attachment.gif"))", "sha256": "\(digest)"}}
            """
        func job(_ state: String, _ result: String) -> LoopbackResponse {
            .body(Data(#"{"id": "j1", "state": "\#(state)", "result": \#(result)}"#.utf8), type: "application/json")
        }
        server.serve(
            "/v1/jobs",
            inTurn: [
                .status(503, ["Retry-After": "0"], Data("{}".utf8)),
                .status(429, ["Retry-After": "0"], Data("{}".utf8)),
                .status(202, [:], Data(#"{"id": "j1", "state": "queued", "result": null}"#.utf8)),
            ])
        server.serve("/v1/jobs/j1", inTurn: [job("running", "null"), job("succeeded", manifest)])
        server.serve("/media/x/attachment.gif", .body(file))
        try bench.folder.makeFolder("out")

        let result = try await client.command(
            ["https://cdn.example/a?b=\"c\"", bench.folder.path("out")], at: server.url("")
        ).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(try bench.folder.bytes(of: "out/attachment.gif") == Array(file))
        let submissions = server.requests(to: "/v1/jobs")
        #expect(submissions.count == 3 && Set(submissions.map { $0.headers["idempotency-key"] }).count == 1)
        #expect(submissions.allSatisfy { $0.headers["prefer"] == "wait=20" && $0.headers["authorization"] == nil })
        let sent = try JSONSerialization.jsonObject(with: submissions[0].body) as? [String: String]
        #expect(sent == ["source": "https://cdn.example/a?b=\"c\""])

        server.serve("/media/x/attachment.gif", .body(Data("something else".utf8)))
        try bench.folder.makeFolder("none")
        let damaged = try await client.command(
            ["https://cdn.example/a", bench.folder.path("none")], at: server.url("")
        ).run()
        #expect(damaged.exitCode != 0)
        #expect(try !bench.folder.contents().contains { $0.hasPrefix("none/") })
    }

    @Test func `Every sample client accepts the service's webhook and rejects forged ones`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/in", .status(204))
        let service = try await bench.start(
            ["--allow-callback-network", "127.0.0.0/8"], environment: ["ATTACHPREP_WEBHOOK_SECRETS": Self.secret])
        _ = try await service.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.heic"))", "callbackURL": "\#(receiver.url("/in"))"}"#)
        await receiver.until { $0.requests.count == 1 }
        try await service.stop()
        let webhook = try #require(receiver.requests.first)
        let names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        let headers = try names.map { try #require(webhook.headers[$0]) }
        let old = String(try #require(Int(headers[1])) - 1_000)
        let body = Array(webhook.body)
        for client in SampleClient.allCases {
            func isValid(_ secret: String, _ headers: [String], _ body: [UInt8]) async throws -> Bool {
                let result = try await client.command(["verify", secret] + headers, at: "", input: body).run()
                return result.exitCode == 0 && result.text == "valid\n"
            }
            #expect(try await isValid(Self.secret, headers, body), "\(client)")
            #expect(
                try await isValid(Self.secret, [headers[0], headers[1], "v1,AAAA \(headers[2])"], body), "\(client)")
            #expect(try await !isValid(Self.secret, headers, body + [0x20]), "\(client)")
            #expect(try await !isValid(Self.secret, ["msg_other", headers[1], headers[2]], body), "\(client)")
            #expect(try await !isValid(Self.secret, [headers[0], old, headers[2]], body), "\(client)")
            #expect(try await !isValid("whsec_\(Data(count: 32).base64EncodedString())", headers, body), "\(client)")
        }
    }
}

/// The Python client of `make client`, generated from `docs/openapi.json`. Issue 19, item 8; issue 22, item 6.
@Suite(.timeLimit(.minutes(5))) struct GeneratedClientTests {
    @Test func `Every operation of the installed Python client works`() async throws {
        let bench = try ServiceBench()
        let tools = SourceTree.path("tools/openapi-client")
        let built = try await RunCommand(
            "\(tools)/build", [bench.folder.path("client")], environment: ["LC_ALL": "C"], timeoutSeconds: 300
        ).run()
        let wheel = try #require(built.lines.last, "make deps-test installs the generator: \(built.errorText)")
        #expect(built.exitCode == 0 && !built.errorText.lowercased().contains("warning"), "\(built.errorText)")

        // Into an environment of its own, with the packages that the wheel names, and without the network.
        let programs = try #require(try await RunCommand("\(tools)/install").run().lines.last)
        let python = bench.folder.path("environment/bin/python")
        let environment = try await RunCommand(
            "python3", ["-m", "venv", "--without-pip", bench.folder.path("environment")]
        ).run()
        #expect(environment.exitCode == 0, "\(environment.errorText)")
        let installed = try await RunCommand(
            "\(programs)/pip",
            [
                "--python", python, "--quiet", "--disable-pip-version-check", "install", "--no-index", "--find-links",
                "\(programs)/../wheels", wheel,
            ]
        ).run()
        #expect(installed.exitCode == 0, "\(installed.errorText)")

        let token = "a-token-for-tests-0123456789"
        let service = try await bench.start(
            ["--allow-callback-network", "127.0.0.0/8"],
            environment: [
                "ATTACHPREP_TOKENS": token,
                "ATTACHPREP_WEBHOOK_SECRETS": "whsec_\(Data(repeating: 7, count: 32).base64EncodedString())",
            ])
        let exercised = try await RunCommand(
            python, ["-B", "\(tools)/exercise.py", service.url, token, try ServiceBench.url("grid.heic")],
            folder: bench.folder.path, timeoutSeconds: 120
        ).run()
        #expect(exercised.exitCode == 0, "\(exercised.text)\(exercised.errorText)")
        #expect(exercised.text.contains(" operations"), "\(exercised.text)")
        try await service.stop()
    }
}

/// A client of `samples/clients`.
enum SampleClient: String, CaseIterable, Sendable {
    case shell = "prepare.sh"
    case python = "prepare.py"
    case node = "prepare.mjs"
    case swift

    func command(_ arguments: [String], at url: String, token: String? = nil, input: [UInt8] = []) throws
        -> RunCommand
    {
        let program = self == .swift ? try BuiltBinary.sampleClient() : SourceTree.path("samples/clients/\(rawValue)")
        return RunCommand(
            program, arguments, environment: ["ATTACHPREP_URL": url, "ATTACHPREP_TOKEN": token], input: input)
    }
}
