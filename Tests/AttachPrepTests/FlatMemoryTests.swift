import AttachPrep
import Foundation
import Glibc
import RichPush
import TestSupport
import Testing

/// A thousand files, whole and broken: nothing of them stays but the results.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil), .timeLimit(.minutes(15)))
struct FlatMemoryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["out", "media"] { try folder.makeFolder(name) }
    }

    /// Memory and descriptors of this process and of its children when nothing is under way.
    private struct Figures {
        let parentBytes: Int
        let childBytes: [Int]
        let descriptors: Int
    }

    private static let slots = 2

    @Test func `A thousand mixed files leave memory and descriptors as they were`() async throws {
        var configuration = PreparerConfiguration(output: folder.path("out"))
        configuration.allowsLocalFiles = true
        configuration.mediaSlots = Self.slots
        configuration.mediaExecutable = try BuiltBinary.attachprepMedia()
        configuration.stateFolder = folder.path("state")
        let preparer = try AttachmentPreparer(configuration)
        try await prepare(0..<200, preparer)
        let early = try figures()
        #expect(!early.childBytes.isEmpty)
        try await prepare(200..<1_000, preparer)
        let late = try figures()
        let said = "\(early) then \(late)"
        #expect(late.parentBytes - early.parentBytes < 20_000_000, "\(said)")
        #expect(late.descriptors <= early.descriptors, "\(said)")
        for figures in [early, late] {
            #expect(figures.childBytes.count <= Self.slots + 1, "\(said)")
            #expect(figures.childBytes.allSatisfy { $0 <= Limits.childIdleMemoryBytesMax }, "\(said)")
        }
        await preparer.shutdown()
        #expect(try children().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).isEmpty)
    }

    /// Eight at a time; each result is looked at and removed.
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
        let allowed: Set<ErrorCode?> = [.internal, .cancelled, .sandboxUnavailable, .outputNotWritable]
        #expect(!allowed.contains(manifest.error?.code), "\(sample) \(number): \(String(describing: manifest.error))")
        if manifest.error == nil { try FileManager.default.removeItem(atPath: folder.path("out/\(manifest.id)")) }
    }

    /// One in three as it is, one cut, one with bytes changed; the same in each run.
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

    // MARK: What is there

    private func figures() throws -> Figures {
        Figures(
            parentBytes: try residentBytes(of: getpid()), childBytes: try children().map(residentBytes),
            descriptors: try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count)
    }

    /// The media processes alone: servers that other suites share for the whole run are children of this process, too.
    private func children() throws -> [pid_t] {
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
