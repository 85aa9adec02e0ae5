import Foundation
import TestSupport
import Testing

/// A place for the real `attachprep` to work in: its own output folder and its own temporary folder, so that what a run
/// leaves behind is seen.
struct CommandBench: Sendable {
    let folder: TemporaryFolder

    /// Where results go.
    var output: String { folder.path("out") }

    /// The samples over http, for all tests.
    static let samples = Result {
        let server = try LoopbackServer()
        try server.serve(folder: URL(fileURLWithPath: SourceTree.path("samples/media"), isDirectory: true))
        return server
    }

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("tmp")
    }

    /// The address of one of `samples/media`.
    static func url(_ sample: String) throws -> String { try samples.get().url("/\(sample)") }

    /// The command with these words, in this bench's folders.
    func command(
        _ arguments: [String], environment: [String: String?] = [:], input: String = "", timeoutSeconds: Double = 60
    ) throws -> RunCommand {
        let own: [String: String?] = [
            "TMPDIR": folder.path("tmp"), "ATTACHPREP_MEDIA": nil, "XDG_STATE_HOME": folder.path("state"),
        ]
        return RunCommand(
            try BuiltBinary.attachprep(), arguments, environment: own.merging(environment) { _, given in given },
            input: Array(input.utf8), folder: folder.path, timeoutSeconds: timeoutSeconds)
    }

    /// Runs the command with these words alone.
    func run(_ arguments: String...) async throws -> CommandResult { try await command(arguments).run() }

    /// The words of a `prepare` or `batch` into this bench's output folder, with sources on loopback let through.
    func words(_ subcommand: String, _ rest: [String]) -> [String] {
        [subcommand, "--output", output, "--format", "json", "--allow-private-network"] + rest
    }

    /// Prepares one source and reads what was printed; the exit code must agree with it.
    func prepare(_ source: String, _ options: String...) async throws -> PrintedManifest {
        try await prepare(source, options: options)
    }

    func prepare(_ source: String, options: [String]) async throws -> PrintedManifest {
        let result = try await command(words("prepare", options + [source])).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first, "\(result.errorText)"))
        #expect(result.lines.count == 1)
        #expect(result.exitCode == (manifest.error == nil ? 0 : 1))
        return manifest
    }

    /// What a batch printed, by id.
    struct BatchResult: Sendable {
        let exitCode: Int32
        let manifests: [String: PrintedManifest]
        let errorText: String
    }

    /// Runs a batch of these lines.
    func batch(_ lines: [String], _ options: String...) async throws -> BatchResult {
        let list = try folder.write(lines.map { $0 + "\n" }.joined(), to: "list-\(UUID().uuidString)")
        let result = try await command(words("batch", options + [list])).run()
        let printed = try result.lines.map { try PrintedManifest(line: $0) }
        return BatchResult(
            exitCode: result.exitCode, manifests: Dictionary(printed.map { ($0.id, $0) }) { $1 },
            errorText: result.errorText)
    }

    /// Runs a request that must fail with this code, exit code 1, and nothing left in any folder.
    func expectRejection(
        _ code: String, of source: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let manifest = try await prepare(source, options: options)
        expect(manifest, rejectedAs: code, sourceLocation: sourceLocation)
        #expect(try leftovers() == [], sourceLocation: sourceLocation)
    }

    /// A rejected manifest has a message and nothing that was made.
    func expect(
        _ manifest: PrintedManifest, rejectedAs code: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let message = Comment(rawValue: manifest.error?.message ?? "\(manifest)")
        #expect(manifest.error?.code == code, message, sourceLocation: sourceLocation)
        #expect(manifest.outcome == "rejected", sourceLocation: sourceLocation)
        #expect(manifest.error?.message.isEmpty == false, sourceLocation: sourceLocation)
        #expect(manifest.reasons == [manifest.error?.message], sourceLocation: sourceLocation)
        #expect(manifest.attachment == nil && manifest.thumbnail == nil, sourceLocation: sourceLocation)
    }

    /// Everything in the output folder and in the temporary folder, hidden names included.
    func leftovers() throws -> [String] {
        try folder.contents().filter { ($0.hasPrefix("out/") || $0.hasPrefix("tmp/")) }
    }

    /// The path of a file of a result.
    func path(_ manifest: PrintedManifest, _ file: String) -> String { "\(output)/\(manifest.id)/\(file)" }

    /// The thumbnail of a result, decoded by a program that is not ours.
    func thumbnail(_ manifest: PrintedManifest) async throws -> TestPicture {
        try await picture(path(manifest, try #require(manifest.thumbnail).file))
    }

    /// The attachment of a result, decoded likewise.
    func attachment(_ manifest: PrintedManifest) async throws -> TestPicture {
        try await picture(path(manifest, try #require(manifest.attachment).file))
    }

    /// Any picture, decoded likewise.
    func picture(_ path: String) async throws -> TestPicture {
        try await onOwnThread { try TestPicture(decoding: path) }
    }

    /// One of `samples/media`, decoded likewise.
    static func picture(ofSample name: String) async throws -> TestPicture {
        try await onOwnThread { try TestPicture(decoding: SourceTree.sample(name)) }
    }
}
