import Foundation
import TestSupport
import Testing

/// A client generated from `/openapi.json`. Issue 19, item 8.
@Suite(.timeLimit(.minutes(5))) struct GeneratedClientTests {
    @Test func `Every operation of a client generated from the OpenAPI document works`() async throws {
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
        let generated = try await RunCommand(
            "\(programs)/openapi-python-client",
            [
                "generate", "--url", "\(service.url)/openapi.json", "--config", "\(tools)/config.yml", "--meta", "none",
                "--output-path", client, "--fail-on-warning",
            ],
            // The generator calls ruff, which is installed in the same folder.
            environment: ["PATH": "\(programs):/usr/bin:/bin"], folder: bench.folder.path, timeoutSeconds: 120
        ).run()
        #expect(generated.exitCode == 0, "\(generated.text)\(generated.errorText)")
        let output = generated.text + generated.errorText
        #expect(!output.lowercased().contains("warning"), "\(output)")
        let source = try ServiceBench.url("grid.heic")
        let exercised = try await RunCommand(
            "\(programs)/python",
            ["-B", "\(tools)/exercise.py", bench.folder.path("client"), service.url, token, source],
            folder: bench.folder.path, timeoutSeconds: 120
        ).run()
        #expect(exercised.exitCode == 0, "\(exercised.text)\(exercised.errorText)")
        #expect(exercised.text.contains(" operations"), "\(exercised.text)")
        try await service.stop()
    }
}
