import Foundation
import Glibc
import Linux
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// The sandbox of the media process, tested by a process that runs commands from its input files.
@Suite(.timeLimit(.minutes(2))) struct MediaProcessSandboxTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Attempts that the kernel blocks; the process continues.
    static let blocked = [
        "read /etc/passwd", "read /proc/self/environ", "read /proc/self/mem", "write /tmp", "write /dev/shm", "list /",
        "list /proc/self/fd", "code", "allocate \(Limits.mediaProcessAddressSpaceBytesMax)",
        "grow \(Limits.mediaProcessFileBytesMax)", "open \(Limits.mediaProcessOpenFilesMax)", "limits",
    ]

    /// Attempts that no decoder ever makes; they end the process.
    static let fatal = ["connect 9", "execute /bin/true", "fork", "trace", "signal"]

    @Test(arguments: blocked) func `A blocked attempt fails, and the process continues`(command: String) async throws {
        try await withPool { pool in
            #expect(await outcome(of: command, pool) == .failure(.mediaUnsupported))
            try await expectWork(pool)
        }
    }

    @Test(arguments: fatal)
    func `A fatal attempt ends the process, and the pool recovers`(command: String) async throws {
        try await withPool { pool in
            #expect(await outcome(of: command, pool) == .failure(.mediaDecoderCrashed))
            try await expectWork(pool)
        }
    }

    @Test func `A connection attempt never reaches the server`() async throws {
        let server = try LoopbackServer()
        server.serve("/", LoopbackResponse([.close]))
        let port = server.port
        try await withPool { pool in
            #expect(await outcome(of: "connect \(port)", pool) == .failure(.mediaDecoderCrashed))
        }
        #expect(server.connectionCount == 0)
    }

    @Test func `The file of another job is not accessible by descriptor or path`() async throws {
        try await withPool { pool in
            try await expectWork(pool)
            let other = try folder.write("of another job", to: "other")
            let descriptor = open(other, O_RDONLY | O_CLOEXEC)
            defer { close(descriptor) }
            #expect(await outcome(of: "others", pool) == .failure(.mediaUnsupported))
            #expect(await outcome(of: "read \(other)", pool) == .failure(.mediaUnsupported))
            #expect(
                await outcome(of: "read /proc/\(getpid())/fd/\(descriptor)", pool) == .failure(.mediaUnsupported))
        }
    }

    @Test func `A delivered file cannot be changed by a process that kept its output open`() async throws {
        var configuration = PreparerConfiguration(output: folder.path("out"))
        configuration.mediaExecutable = try BuiltBinary.hostileMedia()
        configuration.allowsLocalFiles = true
        configuration.dataFolder = nil
        let preparer = try AttachmentPreparer(configuration)
        let manifest = await preparer.prepare(AttachmentRequest(source: SourceTree.sample("grid.webp")))
        let attachment = try #require(manifest.attachment)
        let path = folder.path("out/\(manifest.id)/\(attachment.file)")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let command = try folder.write("attachprep-test spoil\n", to: "spoil")
        let spoiled = await preparer.prepare(AttachmentRequest(source: command))
        // The write succeeded, but on another file.
        #expect(spoiled.error?.message == "not blocked: spoil")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        await preparer.shutdown()
    }

    @Test(.enabled(if: geteuid() == 0, "only root has capabilities"))
    func `Run as root, the process has no capabilities and cannot gain any`() async throws {
        try await withPool { pool in
            try await expectWork(pool)
            // Servers of other suites are child processes too.
            let statuses = ProcessStatus(processID: getpid()).children.compactMap { child in
                try? String(contentsOfFile: "/proc/\(child.processID)/status", encoding: .utf8)
            }.filter { $0.hasPrefix("Name:\tHostileMedia") }
            #expect(!statuses.isEmpty)
            for status in statuses {
                let sets = status.split(separator: "\n").filter { $0.hasPrefix("Cap") }
                #expect(sets.count == 5 && sets.allSatisfy { $0.hasSuffix("\t0000000000000000") }, "\(sets)")
            }
        }
    }

    @Test func `Memory written beyond the limit ends the process`() async throws {
        try await withPool { pool in
            let bytes = Limits.mediaProcessMemoryBytesMax + 200_000_000
            #expect(await outcome(of: "fill \(bytes)", pool) == .failure(.mediaDecoderCrashed))
            try await expectWork(pool)
        }
    }

    @Test(arguments: ["spin 1000", "hang"])
    func `A process that never returns is ended at its deadline`(command: String) async throws {
        try await withPool { pool in
            #expect(await outcome(of: command, pool, seconds: 0.5) == .failure(.deadlineExceeded))
            try await expectWork(pool)
        }
    }

    @Test func `A process that computes without end is ended at the processor time of its file`() async throws {
        try await withPool { pool in
            #expect(await outcome(of: "spin 1000", pool, seconds: 100) == .failure(.mediaTooComplex))
            try await expectWork(pool)
        }
    }

    @Test(arguments: ["crash", "leave"])
    func `A process that ends fails its own call only`(command: String) async throws {
        try await withPool { pool in
            #expect(await outcome(of: command, pool) == .failure(.mediaDecoderCrashed))
            try await expectWork(pool)
        }
    }

    /// Without this test, the tests above could pass with attempts that never work.
    @Test(arguments: [
        "read /etc/passwd", "read /proc/self/environ", "write /tmp", "list /", "code",
        "allocate \(Limits.mediaProcessAddressSpaceBytesMax)", "grow \(Limits.mediaProcessFileBytesMax)",
        "open \(Limits.mediaProcessOpenFilesMax)", "limits", "fork", "signal", "trace",
    ])
    func `Without the sandbox the same attempt succeeds`(command: String) async throws {
        let program = try BuiltBinary.hostileMedia()
        let script = try folder.write(
            "#!/bin/sh\nexec '\(program)' \(MediaProcessArgument.withoutSandbox)\n", to: "open")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        try await withPool(script) { pool in
            #expect(await outcome(of: command, pool) == .failure(.internal))
        }
    }

    // MARK: Helpers

    private enum Outcome: Hashable {
        case success
        case failure(ErrorCode)
    }

    private func withPool(_ executable: String? = nil, _ body: (MediaProcessPool) async throws -> Void) async throws {
        let pool = try MediaProcessPool(
            executable: executable ?? BuiltBinary.hostileMedia(), mediaSlots: 1, requiresSandbox: executable == nil)
        let result: Result<Void, any Error>
        do { result = .success(try await body(pool)) } catch { result = .failure(error) }
        await pool.shutdown()
        try result.get()
    }

    /// Sends a file that contains the command; the second descriptor is an output.
    private func outcome(of command: String, _ pool: MediaProcessPool, seconds: Double = 60) async -> Outcome {
        do {
            let source = open(try folder.write("attachprep-test \(command)\n", to: "command"), O_RDONLY | O_CLOEXEC)
            let output = open(folder.path("output"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { [source, output].forEach { _ = close($0) } }
            _ = try await pool.perform(
                .identify(IdentifyRequest(availableBytes: 10, isComplete: true)), descriptors: [source, output],
                deadline: .now + .seconds(seconds))
            return .success
        } catch {
            return .failure((error as? AttachPrepError)?.code ?? .internal)
        }
    }

    private func expectWork(_ pool: MediaProcessPool, sourceLocation: Testing.SourceLocation = #_sourceLocation)
        async throws
    {
        let source = open(SourceTree.sample("grid.png"), O_RDONLY | O_CLOEXEC)
        defer { close(source) }
        let media = try await pool.inspect(
            InspectRequest(format: .png, decodesStills: true), source: source, deadline: .now + .seconds(60))
        #expect(media.width == 800, sourceLocation: sourceLocation)
    }
}

/// How the end of a probe process is interpreted.
struct SandboxCheckResultTests {
    struct Case: Sendable {
        let attempt: EscapeKind
        let ending: ChildProcess.Ending
        let isBlocked: Bool
    }

    static let cases = [
        Case(attempt: .readFile, ending: .exited(code: MediaProcessExit.attemptBlocked), isBlocked: true),
        Case(attempt: .readFile, ending: .exited(code: MediaProcessExit.attemptSucceeded), isBlocked: false),
        Case(attempt: .readFile, ending: .exited(code: MediaProcessExit.sandboxUnavailable), isBlocked: false),
        Case(attempt: .readFile, ending: .killed(signal: SIGSYS), isBlocked: false),
        Case(attempt: .readFile, ending: .killed(signal: SIGSEGV), isBlocked: false),
        Case(attempt: .execute, ending: .killed(signal: SIGSYS), isBlocked: true),
        Case(attempt: .execute, ending: .exited(code: 0), isBlocked: false),
        Case(attempt: .execute, ending: .exited(code: 1), isBlocked: false),
        Case(attempt: .spin, ending: .killed(signal: SIGXCPU), isBlocked: true),
        Case(attempt: .spin, ending: .exited(code: MediaProcessExit.attemptSucceeded), isBlocked: false),
        Case(attempt: .outliveParent, ending: .killed(signal: SIGKILL), isBlocked: true),
        Case(attempt: .outliveParent, ending: .exited(code: MediaProcessExit.attemptSucceeded), isBlocked: false),
        Case(attempt: .allocate, ending: .killed(signal: SIGKILL), isBlocked: false),
    ]

    @Test(arguments: cases) func `Only the responsible sandbox layer counts as blocking an attempt`(row: Case) {
        let result = SandboxCheckResult(row.attempt, ending: row.ending)
        #expect(result.isBlocked == row.isBlocked, "\(result.explanation)")
        #expect(result.layer == row.attempt.layer)
    }

    @Test func `Every sandbox layer is tested`() {
        #expect(Set(EscapeKind.allCases.map(\.layer)) == Set(SandboxLayer.allCases))
    }
}
