import TestSupport
import Testing

/// Debian package, image and release workflow agree with the tree; `make test-packages` installs them.
@Suite struct PackagingTests {
    @Test func `Versions, paths, users and package names of packages and image agree`() async throws {
        let result = try await RunCommand("python3", [SourceTree.path("tools/packages/check.py")]).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
    }

    @Test func `The units of the package run its program as its user`() async throws {
        for unit in ["attachprep.service", "attachprep-worker.service"] {
            let lines = try await RunCommand(
                SourceTree.path("tools/packages/unit"), [SourceTree.path("deploy/\(unit)")]
            ).run().lines
            #expect(lines.contains { $0.hasPrefix("ExecStart=/usr/bin/attachprep ") })
            #expect(lines.contains("User=attachprep") && !lines.contains("DynamicUser=yes"))
            #expect(!lines.contains { $0.contains("/usr/local") || $0.contains("make install") })
        }
    }
}
