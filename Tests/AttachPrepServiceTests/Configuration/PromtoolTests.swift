import Foundation
import TestSupport
import Testing

/// Alert rules and dashboard as Prometheus reads them.
@Suite(.timeLimit(.minutes(5))) struct PromtoolTests {
    private func promtool(_ arguments: [String]) async throws -> CommandResult {
        try await RunCommand(Promtool.path.get(), arguments).run()
    }

    @Test func `The alert rules are valid`() async throws {
        let result = try await promtool(["check", "rules", SourceTree.path("deploy/prometheus-rules.yml")])
        #expect(result.exitCode == 0 && result.text.contains("rules found"), "\(result.text)\(result.errorText)")
    }

    @Test func `Each alert fires under its condition, and only then`() async throws {
        let path = SourceTree.path("Tests/Fixtures/prometheus/alerts.yml")
        let result = try await promtool(["test", "rules", path])
        #expect(result.exitCode == 0, "\(result.text)\(result.errorText)")
        let tests = try String(contentsOfFile: path, encoding: .utf8)
        let rules = try String(contentsOfFile: SourceTree.path("deploy/prometheus-rules.yml"), encoding: .utf8)
        for alert in rules.matches(of: /- alert: (\w+)/).map(\.1) {
            #expect(tests.contains("runbook_url: docs/incidents/\(alert).md"), "\(alert) has no test in which it fires")
        }
    }

    @Test func `The queries of the dashboard are valid`() async throws {
        let folder = try TemporaryFolder()
        let rules = try GrafanaDashboard().queries.enumerated().map { index, query in
            "      - {record: 'panel:\(index)', expr: \"\(query.replacing("\"", with: "\\\""))\"}"
        }
        #expect(rules.count >= 30)
        let text = (["groups:", "  - name: dashboard", "    rules:"] + rules).joined(separator: "\n")
        try text.write(toFile: folder.path("rules.yml"), atomically: true, encoding: .utf8)
        let result = try await promtool(["check", "rules", folder.path("rules.yml")])
        #expect(result.exitCode == 0, "\(result.text)\(result.errorText)")
    }
}
