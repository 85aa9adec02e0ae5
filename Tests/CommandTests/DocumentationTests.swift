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

    @Test func `The README fits on a screen, and its picture is small`() throws {
        let readme = try String(contentsOfFile: SourceTree.path("README.md"), encoding: .utf8)
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 130)
        let picture = try Data(contentsOf: URL(fileURLWithPath: SourceTree.path("docs/images/notification.png")))
        #expect(picture.count < 60_000)
    }
}
