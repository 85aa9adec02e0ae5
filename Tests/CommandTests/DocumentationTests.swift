import Foundation
import TestSupport
import Testing

/// The documents: `tools/docs` makes their tables from the code, and checks links and commands.
@Suite(.timeLimit(.minutes(1))) struct DocumentationTests {
    @Test func `Every generated table is current, and every command in a document exists`() async throws {
        let program = ["ATTACHPREP": try BuiltBinary.attachprep()]
        let result = try await RunCommand(
            SourceTree.path("tools/docs/reference"), ["--check"], environment: program
        ).run()
        #expect(result.exitCode == 0, "\(result.text)\(result.errorText)")
    }

    @Test func `Every link in a document leads to a file and a heading that exist`() async throws {
        let result = try await RunCommand(SourceTree.path("tools/docs/links"), []).run()
        #expect(result.exitCode == 0, "\(result.text)\(result.errorText)")
    }

    @Test func `The first example of the README prints what the README says`() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("samples"), withDestinationPath: SourceTree.path("samples"))
        let readme = try String(contentsOfFile: SourceTree.path("README.md"), encoding: .utf8)
        let example = try #require(
            readme.firstMatch(of: /\$ attachprep (prepare \S+) \| head -3\n((?:.+\n){3})```/))
        let result = try await RunCommand(
            try BuiltBinary.attachprep(), example.1.split(separator: " ").map(String.init), folder: folder.path
        ).run()
        // Sizes of encoded files differ between versions of the encoders.
        func withoutSizes(_ text: String) -> String { text.replacing(/[\d,]+ bytes/, with: "bytes") }
        let shown = example.2.split(separator: "\n").map(String.init)
        #expect(result.lines.prefix(3).map(withoutSizes) == shown.map(withoutSizes))
    }

    @Test func `The README fits on a screen, and its picture is small`() throws {
        let readme = try String(contentsOfFile: SourceTree.path("README.md"), encoding: .utf8)
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 130)
        let picture = try Data(contentsOf: URL(fileURLWithPath: SourceTree.path("docs/images/notification.png")))
        #expect(picture.count < 60_000)
    }
}
