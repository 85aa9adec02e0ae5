import Foundation
import TestSupport
import Testing

struct SchemathesisTests {
    /// What schemathesis does not understand: a stream that never ends is tested by `EventTests`.
    private static let excluded = ["listen"]

    @Test func `the description is true: a tester that knows nothing else finds nothing`() async throws {
        let tools = SourceTree.root.appendingPathComponent("tools/schemathesis")
        let install = try await RunCommand(tools.appendingPathComponent("install").path, timeoutSeconds: 300).run()
        let program = try #require(install.lines.last, "make deps-test installs schemathesis: \(install.errorText)")
        let service = try await LiveService()
        let folder = try TemporaryFolder()
        let result = try await RunCommand(
            program,
            [
                "--config-file", tools.appendingPathComponent("schemathesis.toml").path, "run",
                "http://127.0.0.1:\(service.port)/openapi.json", "--header",
                "Authorization: Bearer \(LiveService.token)", "--checks", "all", "--seed", "20261121",
                "--max-examples", "15", "--request-timeout", "20", "--no-color",
            ] + Self.excluded.flatMap { ["--exclude-operation-id", $0] },
            environment: [
                "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": tools.path, "PYTHONDONTWRITEBYTECODE": "1",
            ],
            folder: folder.path, timeoutSeconds: 240
        ).run()
        #expect(result.exitCode == 0, "\(result.text)\n\(result.errorText)")
        #expect(result.text.contains("No issues found"), "\(result.text)")
    }
}
