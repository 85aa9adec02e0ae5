import AttachPrep
import AttachPrepModel
import Foundation
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// Requests with the folder, validators and upload of a job.
@Suite(.timeLimit(.minutes(2))) struct PreparationTaskTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder
    private let preparer: AttachmentPreparer
    private static let image = SourceTree.root.appendingPathComponent("samples/media/grid.jpg")

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.download.allowsPrivateNetwork = true
        preparer = try AttachmentPreparer(configuration, engine: try InProcessMediaEngine(mediaSlots: 1))
    }

    private func manifest(_ task: PreparationTask) async throws -> (Manifest, SourceFreshness?) {
        guard case .ended(let manifest, let freshness) = await preparer.prepare(task) else {
            throw CocoaError(.featureUnsupported)
        }
        return (manifest, freshness)
    }

    @Test func `Two tasks with the same id write to separate folders`() async throws {
        let image = try Data(contentsOf: Self.image)
        server.serve("/cat", .body(image, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=60"]))
        var task = PreparationTask(AttachmentRequest(source: server.url("/cat")))
        task.request.id = "cat"
        for name in ["job-1", "job-2"] {
            task.folder = name
            let (manifest, freshness) = try await manifest(task)
            #expect(manifest.id == "cat")
            #expect(manifest.outcome == .passed)
            #expect(freshness?.validators?.entityTag == "\"1\"")
            #expect(freshness?.freshUntil != nil)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == ["job-1", "job-2"])
        #expect(preparer.statistics.downloadedBytes == 2 * image.count)
        await preparer.shutdown()
    }

    @Test func `An unchanged source is not prepared, and leaves nothing behind`() async throws {
        server.serve("/cat", .head(304, ["Cache-Control": "max-age=60"]))
        var task = PreparationTask(AttachmentRequest(source: server.url("/cat")))
        task.validators = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        guard case .unchanged(let freshness) = await preparer.prepare(task) else {
            Issue.record("something was prepared")
            return
        }
        #expect(freshness.validators?.entityTag == "\"1\"")
        #expect(freshness.freshUntil != nil)
        #expect(try folder.contents().isEmpty)
        await preparer.shutdown()
    }

    @Test func `An upload replaces its source, and keeps its name`() async throws {
        let source = "upload:0123456789abcdef0123456789abcdef"
        var task = PreparationTask(AttachmentRequest(source: source))
        task.localFile = Self.image.path
        task.folder = "job-1"
        let (manifest, freshness) = try await manifest(task)
        #expect(manifest.outcome == .passed)
        #expect(manifest.source.url == source)
        #expect(freshness == nil)
        await preparer.shutdown()
    }

    @Test func `An upload's path is not revealed`() async throws {
        let source = "upload:0123456789abcdef0123456789abcdef"
        var task = PreparationTask(AttachmentRequest(source: source))
        task.localFile = "/nonexistent/secret/place"
        let (manifest, _) = try await manifest(task)
        #expect(manifest.error?.code == .sourceNotFound)
        #expect(manifest.error?.message.contains(source) == true)
        #expect(manifest.error?.message.contains("secret") == false)
        await preparer.shutdown()
    }

    @Test func `An upload without its file is rejected`() async throws {
        let task = PreparationTask(AttachmentRequest(source: "upload:0123456789abcdef0123456789abcdef"))
        #expect(try await manifest(task).0.error?.code == .sourceInvalidURL)
        await preparer.shutdown()
    }
}
