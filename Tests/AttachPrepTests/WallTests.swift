import AttachPrep
import Foundation
import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

/// The walls around the media child, tried by a child that does what files tell it.
@Suite(.timeLimit(.minutes(2))) struct WallTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Attempts that the kernel refuses; the child lives on.
    static let refused = [
        "read /etc/passwd", "read /proc/self/environ", "read /proc/self/mem", "write /tmp", "write /dev/shm", "list /",
        "list /proc/self/fd", "code", "allocate \(Limits.childAddressSpaceBytesMax)",
        "grow \(Limits.childFileBytesMax)", "open \(Limits.childOpenFilesMax)", "limits",
    ]

    /// Attempts that no decoder ever makes; they end the child.
    static let fatal = ["connect 9", "execute /bin/true", "fork", "trace", "signal"]

    @Test(arguments: refused) func `An attempt is refused, and the child works on`(order: String) async throws {
        try await withPool { pool in
            #expect(await outcome(of: order, pool) == .failure(.mediaUnsupported))
            try await expectWork(pool)
        }
    }

    @Test(arguments: fatal) func `An attempt ends the child, and the pool goes on`(order: String) async throws {
        try await withPool { pool in
            #expect(await outcome(of: order, pool) == .failure(.mediaDecoderCrashed))
            try await expectWork(pool)
        }
    }

    @Test func `No connection arrives where a child tried to connect`() async throws {
        let server = try LoopbackServer()
        server.serve("/", LoopbackAnswer([.close]))
        let port = server.port
        try await withPool { pool in
            #expect(await outcome(of: "connect \(port)", pool) == .failure(.mediaDecoderCrashed))
        }
        #expect(server.connectionCount == 0)
    }

    @Test func `The file of another job is out of reach, by descriptor and by path`() async throws {
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

    @Test func `What was delivered cannot be changed by a child that kept its output open`() async throws {
        var configuration = PreparerConfiguration(output: folder.path("out"))
        configuration.mediaExecutable = try BuiltBinary.hostileMedia()
        configuration.allowsLocalFiles = true
        configuration.stateFolder = nil
        let preparer = try AttachmentPreparer(configuration)
        let manifest = await preparer.prepare(AttachmentRequest(source: SourceTree.sample("grid.webp")))
        let attachment = try #require(manifest.attachment)
        let path = folder.path("out/\(manifest.id)/\(attachment.file)")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let order = try folder.write("attachprep-test spoil\n", to: "spoil")
        let spoiled = await preparer.prepare(AttachmentRequest(source: order))
        // It could write: the file it wrote to is another one.
        #expect(spoiled.error?.message == "not blocked: spoil")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        await preparer.shutdown()
    }

    @Test(.enabled(if: geteuid() == 0, "only root has capabilities"))
    func `Run as root, the child has no capability, and could never have one`() async throws {
        try await withPool { pool in
            try await expectWork(pool)
            // Servers of other suites are children of this process, too.
            let statuses = ProcessFacts(processID: getpid()).children.compactMap { child in
                try? String(contentsOfFile: "/proc/\(child.processID)/status", encoding: .utf8)
            }.filter { $0.hasPrefix("Name:\tHostileMedia") }
            #expect(!statuses.isEmpty)
            for status in statuses {
                let sets = status.split(separator: "\n").filter { $0.hasPrefix("Cap") }
                #expect(sets.count == 5 && sets.allSatisfy { $0.hasSuffix("\t0000000000000000") }, "\(sets)")
            }
        }
    }

    @Test func `Memory that is written to past the bound ends the child`() async throws {
        try await withPool { pool in
            let bytes = Limits.childMemoryBytesMax + 200_000_000
            #expect(await outcome(of: "fill \(bytes)", pool) == .failure(.mediaDecoderCrashed))
            try await expectWork(pool)
        }
    }

    @Test(arguments: ["spin 1000", "hang"])
    func `One that never comes back is ended at its deadline`(order: String) async throws {
        try await withPool { pool in
            #expect(await outcome(of: order, pool, seconds: 0.5) == .failure(.deadlineExceeded))
            try await expectWork(pool)
        }
    }

    @Test(arguments: ["crash", "leave"]) func `One that ends costs its call alone`(order: String) async throws {
        try await withPool { pool in
            #expect(await outcome(of: order, pool) == .failure(.mediaDecoderCrashed))
            try await expectWork(pool)
        }
    }

    /// Without it the tests above would pass with attempts that never had a chance.
    @Test(arguments: [
        "read /etc/passwd", "read /proc/self/environ", "write /tmp", "list /", "code",
        "allocate \(Limits.childAddressSpaceBytesMax)", "grow \(Limits.childFileBytesMax)",
        "open \(Limits.childOpenFilesMax)", "limits", "fork", "signal", "trace",
    ])
    func `Without walls the same attempt gets through`(order: String) async throws {
        let program = try BuiltBinary.hostileMedia()
        let script = try folder.write("#!/bin/sh\nexec '\(program)' --without-walls\n", to: "open")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        try await withPool(script) { pool in
            #expect(await outcome(of: order, pool) == .failure(.internal))
        }
    }

    // MARK: Means

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

    /// Has a file worked on that tells the child what to try; its second descriptor is an output.
    private func outcome(of order: String, _ pool: MediaProcessPool, seconds: Double = 60) async -> Outcome {
        do {
            let source = open(try folder.write("attachprep-test \(order)\n", to: "order"), O_RDONLY | O_CLOEXEC)
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

    private func expectWork(_ pool: MediaProcessPool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let source = open(SourceTree.sample("grid.png"), O_RDONLY | O_CLOEXEC)
        defer { close(source) }
        let media = try await pool.inspect(
            InspectRequest(format: .png, decodesStills: true), source: source, deadline: .now + .seconds(60))
        #expect(media.width == 800, sourceLocation: sourceLocation)
    }
}
