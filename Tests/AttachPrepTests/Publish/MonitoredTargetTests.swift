import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

struct MonitoredTargetTests {
    /// A target that fails with a given error.
    private final class ScriptedTarget: PublishTarget {
        private let error = Mutex<AttachPrepError?>(nil)

        func fail(with error: AttachPrepError?) { self.error.withLock { $0 = error } }
        private func act() throws { if let error = error.withLock(\.self) { throw error } }

        func publishFiles(_ result: FinishedResult) async throws { try act() }
        func complete(_ result: FinishedResult) async throws { try act() }
        func checkCredentials() async throws {}
        func probe() async throws { try act() }
        func reserveSeconds(ofBudget budgetSeconds: Double) -> Double { 3 }
        let layout = ResultLayout.content
        func url(of file: PublishedFile, in result: String, layout: ResultLayout) -> String? { nil }
        func url(ofManifest result: String) -> String? { nil }
        func publishedManifest(_ id: String) async -> Manifest? { nil }
        var keepsFolders: Bool { false }
        func shutdown() async {}
    }

    private let folder: TemporaryFolder
    private let scripted = ScriptedTarget()
    private let target: MonitoredTarget

    init() throws {
        folder = try TemporaryFolder()
        target = MonitoredTarget(scripted)
    }

    private func publish() async throws {
        let manifest = Manifest(
            id: "cat", requestDigest: "d", outcome: .passed, source: ManifestSource(url: "http://x/"))
        let result = FinishedResult(
            manifest: manifest, staging: try StagingFolder(output: folder.path), folder: nil,
            deadline: .now + .seconds(60))
        try await target.publishFiles(result)
        try await target.complete(result)
    }

    @Test func `The status is unknown before the first attempt, and then reflects the last one`() async throws {
        #expect(target.status == nil)
        try await publish()
        let good = try #require(target.status)
        #expect(good.error == nil)
        scripted.fail(with: AttachPrepError(.publishDenied, "The bucket rejects the request."))
        await #expect(throws: AttachPrepError.self) { try await publish() }
        #expect(target.status?.error?.code == .publishDenied && good.date <= target.status?.date ?? good.date)
    }

    @Test(arguments: [ErrorCode.deadlineExceeded, .cancelled, .outputNoSpace])
    func `An error of the request or of this machine does not change the target's status`(code: ErrorCode)
        async throws
    {
        try await publish()
        scripted.fail(with: AttachPrepError(code, "Not the bucket's error."))
        await #expect(throws: AttachPrepError.self) { try await publish() }
        #expect(target.status?.error == nil)
    }

    @Test func `A probe updates the status whatever its error`() async throws {
        scripted.fail(with: AttachPrepError(.deadlineExceeded, "It does not answer."))
        await #expect(throws: AttachPrepError.self) { try await target.probe() }
        #expect(target.status?.error?.code == .deadlineExceeded)
        scripted.fail(with: nil)
        try await target.probe()
        #expect(target.status?.error == nil)
    }
}
