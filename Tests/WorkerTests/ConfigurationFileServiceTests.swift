import Foundation
import TestSupport
import Testing

/// `--config`, `--print-config` and SIGHUP with the real `attachprep serve` and `attachprep worker`.
@Suite(.timeLimit(.minutes(3))) struct ConfigurationFileServiceTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    private static let (oldToken, newToken) = ("an-old-token-for-tests", "a-new-token-for-tests-")

    private func write(_ lines: String...) throws -> String {
        try bench.folder.write(lines.joined(separator: "\n") + "\n", to: "attachprep.yaml")
    }

    /// Sends SIGHUP and waits until the log has a message once more.
    private func reload(_ service: RunningService, until message: String) async throws -> String {
        @Sendable func count() -> Int {
            ((try? service.running.errorTextSoFar()) ?? "").split(separator: "\n").filter { $0.contains(message) }.count
        }
        let before = count()
        service.running.send(SIGHUP)
        try await waitUntil("the log has: \(message)") { count() > before }
        return try service.running.errorTextSoFar()
    }

    @Test(arguments: ["serve", "worker"])
    func `--print-config prints the settings and exits`(command: String) async throws {
        let keys = try bench.folder.write("k1:\(Data(count: 32).base64EncodedString())\n", to: "queue.key")
        let file = try write(
            "queue: postgres://127.0.0.1/queue", "queue-key-file: \(keys)", "max-queue: 5",
            "publish: s3://media/push", "log-level: debug")
        let result = try await bench.command(
            [command, "--config", file, "--log-level", "error", "--print-config"],
            environment: ["ATTACHPREP_TOKENS": Self.oldToken]
        ).run()
        #expect(result.exitCode == 0 && result.errorText.isEmpty, "\(result.errorText)")
        #expect(result.lines.contains("max-queue: 5  # \(file):3"), "\(result.text)")
        #expect(result.lines.contains("log-level: error  # --log-level"), "\(result.text)")
        #expect(result.lines.contains("port: \(command == "serve" ? 8080 : 8081)  # default"), "\(result.text)")
        #expect(result.lines.contains("# tokens: (hidden)  # ATTACHPREP_TOKENS"), "\(result.text)")
        #expect(!result.text.contains(Self.oldToken))
    }

    @Test(arguments: ["serve", "worker"])
    func `An invalid file is wrong usage, and nothing starts`(command: String) async throws {
        let file = try write("max-queu: 5")
        let result = try await bench.command([command, "--config", file]).run()
        #expect(result.exitCode == 2, "\(result.errorText)")
        #expect(result.errorText.contains("\(file):1: Unknown key \"max-queu\". Did you mean \"max-queue\"?"))
        let missing = try await bench.command([command], environment: ["ATTACHPREP_CONFIG": "/none.yaml"]).run()
        #expect(missing.exitCode == 2 && missing.errorText.contains("/none.yaml does not exist"))
    }

    @Test func `--check accepts what starts, beside a running service, and leaves the data folder alone`() async throws
    {
        let file = try write("tokens: [\(Self.oldToken)]", "port: 0")
        let service = try await bench.start(["--config", file])
        let result = try await bench.command(["serve", "--config", file, "--check"]).run()
        #expect(result.exitCode == 0 && result.text.contains("The configuration is valid"), "\(result.errorText)")
        #expect(try await service.client.get("/healthz").status == 200)
    }

    /// What a start rejects, and the message, which names file and line of the setting.
    private static let rejected: [(lines: [String], message: String)] = [
        (["token-file: /none"], ":1). The file /none is missing"),
        (["# A comment.", "host: 0.0.0.0"], ":2). 0.0.0.0 is not a loopback address"),
        (["tokens: [\(oldToken)]", "host: 203.0.113.7"], ":2). 203.0.113.7 is not an address of this machine"),
        (["metrics-network: [10.0.0.1/8]"], ":1). The network \"10.0.0.1/8\" has bits set after its prefix"),
        (["webhook-secrets: [whsec_short]"], ":1). Secret 1 in the list"),
        (["webhook-secret-file: /none"], ":1). The file /none is missing"),
        (["tokens: [short]"], ":1). A token is not 16 to 512 visible ASCII characters"),
        (["publish: s3://"], ":1). "), (["publish: s3://media", "s3-region: eu west"], "s3-region"),
        (["ca-file: /none"], "ca-file"),
    ]

    @Test(arguments: rejected.indices)
    func `--check rejects what a start rejects, with file and line`(index: Int) async throws {
        let (lines, message) = Self.rejected[index]
        let file = try bench.folder.write(lines.joined(separator: "\n") + "\n", to: "attachprep.yaml")
        let checked = try await bench.command(["serve", "--config", file, "--check"]).run()
        #expect(checked.exitCode == 2 && checked.errorText.contains(message), "\(checked.errorText)")
        #expect(checked.errorText.contains(file), "\(checked.errorText)")
        let started = try await bench.command(["serve", "--config", file]).run()
        #expect(started.exitCode != 0 && !started.errorText.contains(" notice serving"), "\(started.errorText)")
    }

    @Test func `--check warns of a misspelled variable and names a variable's value`() async throws {
        let valid = try await bench.command(["serve", "--check"], environment: ["ATTACHPREP_PROT": "1"]).run()
        #expect(valid.exitCode == 0 && valid.text.contains("unknown environment variable ATTACHPREP_PROT"))
        for (name, value, message) in [
            ("ATTACHPREP_PORT", "tcp://10.0.0.1:80", "ATTACHPREP_PORT is \"tcp://10.0.0.1:80\""),
            ("ATTACHPREP_DATA", "/dev/null/state", "Invalid value for ATTACHPREP_DATA. Cannot use the data folder"),
        ] {
            let wrong = try await bench.command(["serve", "--check"], environment: [name: value]).run()
            #expect(wrong.exitCode == 2 && wrong.errorText.contains(message), "\(wrong.errorText)")
        }
    }

    @Test func `SIGHUP replaces tokens and limits without dropping a connection`() async throws {
        let origin = try LoopbackServer()
        let gate = LoopbackGate()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve("/slow.jpg", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image).steps))
        let file = try write("tokens: [\(Self.oldToken)]", "max-queue: 100")
        let service = try await bench.start(["--config", file])
        var (old, new) = (service.client, service.client)
        (old.token, new.token) = (Self.oldToken, Self.newToken)
        #expect(try await old.get("/v1/jobs").status == 200)
        #expect(try await new.get("/v1/jobs").status == 401)
        // A request that is open across the reload.
        let open = Task { [old] in
            try await old.send(
                "POST", "/v1/jobs", body: #"{"source": "\#(origin.url("/slow.jpg"))"}"#, headers: ["Prefer": "wait=60"])
        }
        await origin.until { $0.requests.count == 1 }
        _ = try write("tokens: [\(Self.newToken)]", "max-queue: 1", "log-level: debug", "port: 9")
        let log = try await reload(service, until: "\"configuration reloaded\"")
        #expect(log.contains("tokens, max-queue (100 to 1), log-level (info to debug)"), "\(log)")
        #expect(!log.contains(Self.newToken) && !log.contains(Self.oldToken))
        #expect(try await old.get("/v1/jobs").status == 401)
        #expect(try await new.get("/v1/jobs").status == 200)
        gate.open()
        #expect(try await open.value.status == 200)
        let lines = (0..<2).map { #"{"source": "\#(origin.url("/\($0).jpg"))"}"# }
        let many = try await new.send(
            "POST", "/v1/jobs", body: lines.joined(separator: "\n"), headers: ["Content-Type": "application/x-ndjson"])
        #expect(many.status == 503 || many.status == 429, "\(many.status) \(many.text)")
        try await service.stop()
    }

    @Test func `What needs a restart is named at each reload, and --port of the command line stays`() async throws {
        let file = try write("connections: 50")
        let service = try await bench.start(["--config", file])
        _ = try write("connections: 60", "host: 127.0.0.1", "webhook-secrets: [whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz]")
        for _ in 0..<2 {
            let log = try await reload(service, until: "\"changed settings need a restart\"")
            #expect(log.contains(#""settings":"webhook-secrets, connections, connections-per-address""#), "\(log)")
        }
        #expect(try await service.client.get("/healthz").status == 200)
        try await service.stop()
    }

    @Test func `With an invalid file, a reload changes nothing, and the next valid one is applied`() async throws {
        let tokens = try bench.folder.write("\(Self.oldToken)\n", to: "tokens")
        let file = try write("token-file: \(tokens)")
        let service = try await bench.start(["--config", file])
        var (old, new) = (service.client, service.client)
        (old.token, new.token) = (Self.oldToken, Self.newToken)
        let other = try bench.folder.write("\(Self.newToken)\n", to: "other")
        for wrong in ["token-fil: \(other)", "token-file: [", "token-file: /none", "drain: x"] {
            _ = try write(wrong, "max-queue: 1")
            let log = try await reload(service, until: "\"configuration not reloaded")
            #expect(log.contains("\"error\""), "\(log)")
            #expect(try await old.get("/v1/jobs").status == 200, "\(wrong)")
        }
        try FileManager.default.removeItem(atPath: file)
        _ = try await reload(service, until: "\"configuration not reloaded")
        _ = try write("token-file: \(other)")
        _ = try await reload(service, until: "\"configuration reloaded\"")
        #expect(try await old.get("/v1/jobs").status == 401)
        #expect(try await new.get("/v1/jobs").status == 200)
        try await service.stop()
    }
}
