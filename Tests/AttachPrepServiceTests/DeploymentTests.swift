import Foundation
import TestSupport
import Testing

@testable import AttachPrepService

/// What stands in `deploy/` speaks of things there are.
@Suite struct DeploymentTests {
    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: SourceTree.path("deploy/\(name)"), encoding: .utf8)
    }

    @Test func `Alert rules ask for metrics that the service has`() throws {
        let names = try text("prometheus-rules.yml").matches(of: /attachprep_[a-z_]+/).map { String($0.output) }
        let known = Set(MetricDescription.service.keys).union([PrometheusRegistry.refusedLabel])
        #expect(names.count >= 10)
        for name in names {
            #expect(known.contains(name) || known.contains(name.replacing("_bucket", with: "")), "\(name)")
        }
    }

    @Test(arguments: ["attachprep.service", "Dockerfile", "attachprep-health"])
    func `Flags and variables are those of serve`(name: String) throws {
        let text = try text(name)
        let variables = Set(Setting.allCases.map(\.variable))
        for found in text.matches(of: /ATTACHPREP_[A-Z_]+/) {
            #expect(variables.contains(String(found.output)), "\(found.output) in \(name)")
        }
        let flags = Set(Setting.allCases.map(\.flag))
        for line in text.split(separator: "\n") where line.hasPrefix("ExecStart=") {
            for found in line.matches(of: /--[a-z-]+/) {
                #expect(flags.contains(String(found.output)), "\(found.output)")
            }
        }
    }

    @Test func `What the image copies from the tree is in the tree`() async throws {
        let lines = try text("Dockerfile").split(separator: "\n").filter { $0.hasPrefix("COPY ") }
        let sources = lines.filter { !$0.contains("--from=") }.flatMap { line in
            line.split(separator: " ").dropFirst().filter { !$0.hasPrefix("--") }.dropLast().map(String.init)
        }
        #expect(sources.count >= 4)
        for source in sources where source != "." {
            let tracked = try await RunCommand(
                "git", ["ls-files", "--error-unmatch", source], folder: SourceTree.path(".")
            )
            .run()
            #expect(tracked.exitCode == 0, "\(source)")
        }
    }

    @Test func `systemd waits longer than the service takes to leave`() throws {
        let line = try #require(try text("attachprep.service").firstMatch(of: /TimeoutStopSec=([0-9]+)/))
        let seconds = try #require(Double(line.1))
        // Answers under way have ten seconds more: see AttachmentServer.
        #expect(try seconds > ServeConfiguration(flags: [:], environment: ["HOME": "/"]).drainSeconds + 10)
    }
}
