import AttachPrep
import AttachPrepModel
import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

/// A thousand files, intact and broken, leave nothing but their results.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil), .timeLimit(.minutes(15)))
struct MemoryLeakTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["out", "media"] { try folder.makeFolder(name) }
    }

    /// Memory and descriptors of this process, and memory of its media processes, when idle.
    private struct ResourceUsage {
        let parentBytes: Int
        let mediaProcessBytes: [Int]
        let descriptors: Int
    }

    private static let slots = 2

    @Test func `A thousand mixed files leak neither memory nor descriptors`() async throws {
        var configuration = PreparerConfiguration(output: folder.path("out"))
        configuration.allowsLocalFiles = true
        configuration.mediaSlots = Self.slots
        configuration.mediaExecutable = try BuiltBinary.attachprepMedia()
        configuration.dataFolder = folder.path("state")
        let preparer = try AttachmentPreparer(configuration)
        try await prepare(0..<200, preparer)
        let early = try measureUsage()
        #expect(!early.mediaProcessBytes.isEmpty)
        try await prepare(200..<1_000, preparer)
        let late = try measureUsage()
        let summary = "\(early) then \(late)"
        #expect(late.parentBytes - early.parentBytes < 20_000_000, "\(summary)")
        #expect(late.descriptors <= early.descriptors, "\(summary)")
        for usage in [early, late] {
            #expect(usage.mediaProcessBytes.count <= Self.slots + 1, "\(summary)")
            #expect(usage.mediaProcessBytes.allSatisfy { $0 <= Limits.mediaProcessIdleMemoryBytesMax }, "\(summary)")
        }
        await preparer.shutdown()
        #expect(try mediaProcesses().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).isEmpty)
    }

    /// Eight at a time; each result is checked and removed.
    private func prepare(_ numbers: Range<Int>, _ preparer: AttachmentPreparer) async throws {
        let samples = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (position, number) in numbers.enumerated() {
                if position >= 8 { try await group.next() }
                group.addTask { try await prepare(number, samples[number % samples.count], preparer) }
            }
            try await group.waitForAll()
        }
    }

    private func prepare(_ number: Int, _ sample: String, _ preparer: AttachmentPreparer) async throws {
        let bytes = Self.changed([UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample(sample)))), number)
        let path = try folder.write(bytes, to: "media/\(number)-\(sample)")
        defer { try? FileManager.default.removeItem(atPath: path) }
        var request = AttachmentRequest(source: path)
        request.budgetSeconds = 20
        let manifest = await preparer.prepare(request)
        let forbidden: Set<ErrorCode?> = [.internal, .cancelled, .sandboxUnavailable, .outputNotWritable]
        #expect(!forbidden.contains(manifest.error?.code), "\(sample) \(number): \(String(describing: manifest.error))")
        if manifest.error == nil { try FileManager.default.removeItem(atPath: folder.path("out/\(manifest.id)")) }
    }

    /// A third of the files intact, a third truncated, a third with changed bytes; the same in each run.
    private static func changed(_ bytes: [UInt8], _ number: Int) -> [UInt8] {
        var state = UInt64(number) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        func next() -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        guard bytes.count > 64 else { return bytes }
        var changed = bytes
        switch number / 40 % 3 {
        case 0: break
        case 1: changed.removeLast(next() % (bytes.count - 64))
        default: for _ in 0..<20 { changed[next() % bytes.count] = UInt8(truncatingIfNeeded: next()) }
        }
        return changed
    }

    // MARK: Measurements

    private func measureUsage() throws -> ResourceUsage {
        ResourceUsage(
            parentBytes: try residentBytes(of: getpid()), mediaProcessBytes: try mediaProcesses().map(residentBytes),
            descriptors: try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count)
    }

    /// Media processes only: servers that other suites share for the whole run are child processes too.
    private func mediaProcesses() throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { number in
            guard let text = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")"), text[..<end].contains("(attachprep-medi")
            else { return false }
            return text[end...].split(separator: " ").dropFirst(2).first.flatMap { pid_t($0) } == getpid()
        }
    }

    private func residentBytes(of number: pid_t) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(number)/statm", encoding: .utf8)
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}
