import Foundation
import TestSupport
import Testing

/// Output folders that cannot be written.
@Suite(.timeLimit(.minutes(2))) struct OutputErrorTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func prepare(into output: String, _ rest: String...) async throws -> CommandResult {
        try await bench.command(
            ["prepare", "--format", "json", "--output", output] + rest + [SourceTree.sample("grid.jpg")]
        ).run()
    }

    private func expect(
        _ result: CommandResult, _ code: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let printed = try #require(result.lines.first, "\(result.errorText)", sourceLocation: sourceLocation)
        bench.expect(try PrintedManifest(line: printed), rejectedAs: code, sourceLocation: sourceLocation)
        #expect(result.exitCode == 1, sourceLocation: sourceLocation)
    }

    @Test func `An output folder without write permission is output.not_writable`() async throws {
        // Not even root can write there.
        try expect(try await prepare(into: "/proc/attachprep"), "output.not_writable")
    }

    @Test func `A file in the path of the output folder is output.not_writable`() async throws {
        try bench.folder.write("in the way", to: "file")
        try expect(try await prepare(into: bench.folder.path("file")), "output.not_writable")
        try expect(try await prepare(into: bench.folder.path("file/below")), "output.not_writable")
        #expect(try bench.folder.contents() == ["file", "tmp"])
    }

    @Test func `A missing output folder is created, with its parents`() async throws {
        let result = try await prepare(into: "out/a/b")
        #expect(result.exitCode == 0)
        #expect(try bench.leftovers().contains { $0.hasPrefix("out/a/b/") && $0.hasSuffix("attachment.jpg") })
    }

    @Test(arguments: [true, false])
    func `Unrelated files at the path of a result are kept, and the request is output.not_writable`(isFolder: Bool)
        async throws
    {
        try bench.folder.makeFolder(isFolder ? "out/cat" : "out")
        try bench.folder.write("mine", to: isFolder ? "out/cat/notes.txt" : "out/cat")
        let before = try bench.leftovers()
        let line = #"{"source": "\#(SourceTree.sample("grid.jpg"))", "id": "cat"}"#
        let result = try await bench.batch([line])
        #expect(result.exitCode == 1)
        bench.expect(try #require(result.manifests["cat"]), rejectedAs: "output.not_writable")
        #expect(try bench.leftovers() == before)
    }

    @Test(.enabled(if: Self.canMount, "only root may mount"), arguments: ["16k", "56k", "64k"])
    func `A full disk is output.no_space, and no files are left on it`(size: String) async throws {
        try bench.folder.makeFolder("out")
        let script = """
            mount -t tmpfs -o size=\(size) none out || exit 90
            "$0" prepare --format json --output out "$1"
            code=$?
            ls -A out >&2
            exit $code
            """
        let arguments = ["-m", "sh", "-c", script, try BuiltBinary.attachprep(), SourceTree.sample("grid.jpg")]
        let result = try await RunCommand("unshare", arguments, folder: bench.folder.path).run()
        try expect(result, "output.no_space")
        #expect(result.errorText == "")
    }

    @Test(.enabled(if: Self.canMount, "only root may mount"))
    func `A full temporary folder is output.no_space for inspect`() async throws {
        let script = """
            mount -t tmpfs -o size=16k none tmp || exit 90
            TMPDIR=$PWD/tmp "$0" inspect "$1"
            code=$?
            ls -A tmp >&2
            exit $code
            """
        let arguments = ["-m", "sh", "-c", script, try BuiltBinary.attachprep(), SourceTree.sample("grid.jpg")]
        let result = try await RunCommand("unshare", arguments, folder: bench.folder.path).run()
        #expect(result.exitCode == 1)
        #expect(result.text.contains("output.no_space"))
        #expect(result.errorText == "")
    }

    private static let canMount =
        (try? RunCommand("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).runBlocking().exitCode) == 0
}
