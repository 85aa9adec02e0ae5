import Foundation
import TestSupport
import Testing

/// What somebody gets who has a client made of `/openapi.json`. Issue 19, item 8.
@Suite(.timeLimit(.minutes(5))) struct GeneratedClientTests {
    @Test func `A generated client has every operation, each of which works`() async throws {
        let bench = try ServiceBench()
        let tools = SourceTree.path("tools/openapi-client")
        let install = try await RunCommand("\(tools)/install", timeoutSeconds: 300).run()
        let programs = try #require(
            install.lines.last, "make deps-test installs openapi-python-client: \(install.errorText)")
        let token = "a-token-for-tests-0123456789"
        let service = try await bench.start(
            ["--allow-callback-network", "127.0.0.0/8"],
            environment: [
                "ATTACHPREP_TOKENS": token,
                "ATTACHPREP_WEBHOOK_SECRETS": "whsec_\(Data(repeating: 7, count: 32).base64EncodedString())",
            ])
        let client = bench.folder.path("client/attachprep_client")
        try bench.folder.makeFolder("client")
        let made = try await RunCommand(
            "\(programs)/openapi-python-client",
            [
                "generate", "--url", "\(service.url)/openapi.json", "--config", "\(tools)/config.yml", "--meta", "none",
                "--output-path", client, "--fail-on-warning",
            ],
            // It calls ruff, which is installed beside it.
            environment: ["PATH": "\(programs):/usr/bin:/bin"], folder: bench.folder.path, timeoutSeconds: 120
        ).run()
        #expect(made.exitCode == 0, "\(made.text)\(made.errorText)")
        #expect(!(made.text + made.errorText).lowercased().contains("warning"), "\(made.text)\(made.errorText)")
        let source = try ServiceBench.url("grid.heic")
        let used = try await RunCommand(
            "\(programs)/python",
            ["-B", "\(tools)/exercise.py", bench.folder.path("client"), service.url, token, source],
            folder: bench.folder.path, timeoutSeconds: 120
        ).run()
        #expect(used.exitCode == 0, "\(used.text)\(used.errorText)")
        #expect(used.text.contains(" operations"), "\(used.text)")
        try await service.stop()
    }
}
