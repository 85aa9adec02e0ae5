import Foundation
import TestSupport
import Testing

@testable import AttachPrepService

/// The files in `deploy/` match the product.
@Suite struct DeploymentTests {
    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: SourceTree.path("deploy/\(name)"), encoding: .utf8)
    }

    /// The metrics of a text that the service does not have.
    private func unknownMetrics(_ text: String) -> [String] {
        let known = Set(MetricDescription.service.keys).union([PrometheusRegistry.refusedLabel])
        return text.matches(of: /\b(?:attachprep|process)_[a-z_]+/).map { String($0.output) }.filter { name in
            !known.contains(name) && !known.contains(name.replacing(/_(?:bucket|sum|count)$/, with: ""))
        }
    }

    @Test func `Alert rules use existing metrics`() throws {
        let rules = try text("prometheus-rules.yml")
        #expect(rules.matches(of: /attachprep_[a-z_]+/).count >= 10)
        #expect(unknownMetrics(rules) == [])
        #expect(unknownMetrics("rate(attachprep_lost_total[1m])") == ["attachprep_lost_total"])
    }

    @Test func `Each alert has a link to its page`() throws {
        let rules = try text("prometheus-rules.yml").split(separator: "- alert: ").dropFirst()
        #expect(rules.count >= 11)
        for rule in rules {
            let name = rule.prefix { $0.isLetter }
            #expect(rule.contains("runbook_url: docs/incidents/\(name).md\n"), "\(name)")
            #expect(FileManager.default.fileExists(atPath: SourceTree.path("docs/incidents/\(name).md")), "\(name)")
        }
    }

    @Test func `The dashboard uses existing metrics, and shows each`() throws {
        let expressions = try GrafanaDashboard().expressions.joined(separator: "\n")
        #expect(unknownMetrics(expressions) == [])
        let shown = Set(expressions.matches(of: /\b[a-z]+_[a-z_]+/).map { String($0.output) })
        for name in MetricDescription.service.keys {
            #expect(["", "_bucket", "_count"].contains { shown.contains(name + $0) }, "\(name)")
        }
    }

    @Test func `The panels of the dashboard have their own IDs and do not overlap`() throws {
        let panels = try GrafanaDashboard().panels
        #expect(Set(panels.map(\.id)).count == panels.count)
        for (index, panel) in panels.enumerated() {
            #expect(panel.gridPos.x + panel.gridPos.w <= 24)
            let overlapping = panels[..<index].filter { $0.gridPos.overlaps(panel.gridPos) }
            #expect(overlapping.isEmpty, "\(panel.title)")
        }
    }

    @Test(arguments: [
        "attachprep.service", "attachprep-worker.service", "Dockerfile", "attachprep-health", "compose.yml",
        "cluster/environment.example",
    ])
    func `Deployment files use existing flags and variables of serve`(name: String) throws {
        let text = try text(name)
        // The commit is known when the image is built, not when it runs.
        let variables = Set(Setting.allCases.map(\.variable)).union(["ATTACHPREP_COMMIT"])
        for found in text.matches(of: /ATTACHPREP_[A-Z0-9_]+/) {
            #expect(variables.contains(String(found.output)), "\(found.output) in \(name)")
        }
        let flags = Set(Setting.allCases.map(\.flag))
        for line in text.split(separator: "\n") where line.hasPrefix("ExecStart=") || line.contains("command: [\"serve")
        {
            for found in line.matches(of: /--[a-z-]+/) {
                #expect(flags.contains(String(found.output)), "\(found.output)")
            }
        }
    }

    @Test func `The files that the image copies are in the repository`() async throws {
        let lines = try text("Dockerfile").split(separator: "\n").filter { $0.hasPrefix("COPY ") }
        let sources = lines.filter { !$0.contains("--from=") }.flatMap { line in
            line.split(separator: " ").dropFirst().filter { !$0.hasPrefix("--") }.dropLast().map(String.init)
        }
        #expect(sources.count >= 4)
        // `Package.resolve[d]`: the file is in a release's tarball only, so the pattern lets it be absent.
        for source in sources where source != "." && !source.hasPrefix("Package.resolve") {
            let tracked = try await RunCommand(
                "git", ["ls-files", "--error-unmatch", source], folder: SourceTree.path(".")
            )
            .run()
            #expect(tracked.exitCode == 0, "\(source)")
        }
    }

    @Test func `The compose file configures a complete cluster and mounts existing files`() throws {
        let text = try text("compose.yml")
        let environment = try self.text("cluster/environment.example")
        let pairs = (text + environment).matches(of: /(ATTACHPREP_[A-Z_0-9]+)[:=] *"?([^"\n]*)/)
        var variables = ["AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"]
        for pair in pairs { variables[String(pair.1)] = String(pair.2) }
        let folder = try TemporaryFolder()
        let keys = try folder.write("k1:\(Data(count: 32).base64EncodedString())\n", to: "queue-keys")
        #expect(variables.updateValue(keys, forKey: "ATTACHPREP_QUEUE_KEY_FILE") == "/run/secrets/queue-keys")
        let worker = try ServeConfiguration(flags: [:], environment: variables, role: .work)
        #expect("\(worker.queue?.description ?? "")" == "attachprep@postgres/push")
        #expect(worker.preparer.publish.isRemote && worker.dataFolder.isEmpty && worker.unknownVariables.isEmpty)
        for found in text.matches(of: /{file: (cluster\/[a-z0-9.]+)}/) { _ = try self.text(String(found.1)) }
    }

    @Test(arguments: ["attachprep.service", "attachprep-worker.service"])
    func `systemd's stop timeout is longer than the drain time`(name: String) throws {
        let line = try #require(try text(name).firstMatch(of: /TimeoutStopSec=([0-9]+)/))
        let seconds = try #require(Double(line.1))
        // Responses in progress have ten seconds more: see AttachmentServer.
        #expect(try seconds > ServeConfiguration(flags: [:], environment: ["HOME": "/"]).drainSeconds + 10)
    }
}
