import Foundation
import TestSupport
import Testing

/// Runs the real `attachprep` with its own output folder and its own temporary folder, so that tests can check for
/// leftover files.
struct CommandBench: Sendable {
    let folder: TemporaryFolder

    /// The output folder.
    var output: String { folder.path("out") }

    /// Serves `samples/media` over http, for all tests.
    static let samples = Result {
        let server = try LoopbackServer()
        try server.serve(folder: URL(fileURLWithPath: SourceTree.path("samples/media"), isDirectory: true))
        return server
    }

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("tmp")
    }

    /// The URL of a file of `samples/media`.
    static func url(_ sample: String) throws -> String { try samples.get().url("/\(sample)") }

    /// The command with these arguments, in this bench's folders.
    func command(
        _ arguments: [String], environment: [String: String?] = [:], input: String = "", timeoutSeconds: Double = 60
    ) throws -> RunCommand {
        let own: [String: String?] = [
            "TMPDIR": folder.path("tmp"), "ATTACHPREP_MEDIA": nil, "XDG_STATE_HOME": folder.path("state"),
        ]
        return RunCommand(
            try BuiltBinary.attachprep(), arguments, environment: own.merging(environment) { $1 },
            input: Array(input.utf8), folder: folder.path, timeoutSeconds: timeoutSeconds)
    }

    /// Runs the command with only these arguments.
    func run(_ arguments: String...) async throws -> CommandResult { try await command(arguments).run() }

    /// The arguments of a `prepare` or `batch` into this bench's output folder, with sources on loopback allowed.
    func arguments(_ subcommand: String, _ rest: [String]) -> [String] {
        [subcommand, "--output", output, "--format", "json", "--allow-private-network"] + rest
    }

    /// Prepares one source and returns its printed manifest; expects the matching exit code.
    func prepare(_ source: String, _ options: String...) async throws -> PrintedManifest {
        try await prepare(source, options: options)
    }

    func prepare(_ source: String, options: [String]) async throws -> PrintedManifest {
        let result = try await command(arguments("prepare", options + [source])).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first, "\(result.errorText)"))
        #expect(result.lines.count == 1)
        #expect(result.exitCode == (manifest.error == nil ? 0 : 1))
        return manifest
    }

    /// What a batch printed, with the manifests by ID.
    struct BatchResult: Sendable {
        let exitCode: Int32
        let manifests: [String: PrintedManifest]
        let errorText: String
    }

    /// Runs a batch of these lines.
    func batch(_ lines: [String], _ options: String...) async throws -> BatchResult {
        let list = try folder.write(lines.map { $0 + "\n" }.joined(), to: "list-\(UUID().uuidString)")
        let result = try await command(arguments("batch", options + [list])).run()
        let printed = try result.lines.map { try PrintedManifest(line: $0) }
        return BatchResult(
            exitCode: result.exitCode, manifests: Dictionary(printed.map { ($0.id, $0) }) { $1 },
            errorText: result.errorText)
    }

    /// Expects that a request is rejected with this code and exit code 1, and leaves no files.
    func expectRejection(
        _ code: String, of source: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let manifest = try await prepare(source, options: options)
        expect(manifest, rejectedAs: code, sourceLocation: sourceLocation)
        #expect(try leftovers() == [], sourceLocation: sourceLocation)
    }

    /// Expects a rejected manifest: with this code and a message, and without files.
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

    /// The thumbnail of a result, decoded by an independent program.
    func thumbnail(_ manifest: PrintedManifest) async throws -> TestImage {
        try await image(path(manifest, try #require(manifest.thumbnail).file))
    }

    /// The attachment of a result, decoded by an independent program.
    func attachment(_ manifest: PrintedManifest) async throws -> TestImage {
        try await image(path(manifest, try #require(manifest.attachment).file))
    }

    /// Any image file, decoded by an independent program.
    func image(_ path: String) async throws -> TestImage {
        try await onOwnThread { try TestImage(decoding: path) }
    }

    /// A file of `samples/media`, decoded by an independent program.
    static func image(ofSample name: String) async throws -> TestImage {
        try await onOwnThread { try TestImage(decoding: SourceTree.sample(name)) }
    }
}

/// All samples, prepared over http by one run of the command, for all tests that check the results.
struct PreparedSamples: Sendable {
    let bench: CommandBench
    let exitCode: Int32
    private let manifests: [String: PrintedManifest]

    /// The only run, started by the first test that needs it.
    static let run = Task { try await PreparedSamples() }

    private init() async throws {
        bench = try CommandBench()
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
        let sources = try names.map(CommandBench.url)
        let result = try await bench.command(bench.arguments("prepare", sources)).run()
        exitCode = result.exitCode
        let printed = try result.lines.map(PrintedManifest.init(line:))
        // Results come in the order of the sources.
        manifests = Dictionary(uniqueKeysWithValues: zip(names, printed))
        Self.removeAtExit(bench.folder)
    }

    /// The manifest of a sample.
    static func manifest(_ sample: String) async throws -> PrintedManifest {
        guard let manifest = try await run.value.manifests[sample] else {
            throw TestError(description: "nothing was printed for \(sample)")
        }
        return manifest
    }

    static var bench: CommandBench { get async throws { try await run.value.bench } }

    /// Removes the folder at exit, because a static value is never deinitialized.
    private static func removeAtExit(_ folder: TemporaryFolder) {
        removed.value = folder.path
        atexit { try? FileManager.default.removeItem(atPath: PreparedSamples.removed.value) }
    }

    private static let removed = RemovedPath()

    /// Written once, before the process ends.
    private final class RemovedPath: @unchecked Sendable {
        var value = ""
    }
}

/// Tests that run only in `make test-long`.
enum LongTests {
    static let areEnabled = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil
}
