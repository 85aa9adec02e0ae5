import AttachPrep
import Foundation
import MediaProcessing
import RichPush
import TestSupport
import Testing

/// A request as a job's surroundings order it.
@Suite(.timeLimit(.minutes(2))) struct CarryOutTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder
    private let preparer: AttachmentPreparer
    private static let picture = SourceTree.root.appendingPathComponent("samples/media/grid.jpg")

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.download.allowsPrivateNetwork = true
        preparer = try AttachmentPreparer(configuration, engine: try InProcessMediaEngine(mediaSlots: 1))
    }

    private func manifest(_ order: PreparationTask) async throws -> (Manifest, SourceFreshness?) {
        guard case .ended(let manifest, let freshness) = await preparer.prepare(order) else {
            throw CocoaError(.featureUnsupported)
        }
        return (manifest, freshness)
    }

    @Test func `Two orders of the same id land in folders of their own`() async throws {
        let picture = try Data(contentsOf: Self.picture)
        server.serve("/cat", .body(picture, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=60"]))
        var order = PreparationTask(AttachmentRequest(source: server.url("/cat")))
        order.request.id = "cat"
        for name in ["job-1", "job-2"] {
            order.folder = name
            let (manifest, freshness) = try await manifest(order)
            #expect(manifest.id == "cat")
            #expect(manifest.outcome == .passed)
            #expect(freshness?.validators?.entityTag == "\"1\"")
            #expect(freshness?.freshUntil != nil)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == ["job-1", "job-2"])
        #expect(preparer.statistics.downloadedBytes == 2 * picture.count)
        await preparer.shutdown()
    }

    @Test func `A source that is unchanged is not prepared, and leaves nothing behind`() async throws {
        server.serve("/cat", .head(304, ["Cache-Control": "max-age=60"]))
        var order = PreparationTask(AttachmentRequest(source: server.url("/cat")))
        order.validators = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        guard case .unchanged(let freshness) = await preparer.prepare(order) else {
            Issue.record("something was prepared")
            return
        }
        #expect(freshness.validators?.entityTag == "\"1\"")
        #expect(freshness.freshUntil != nil)
        #expect(try folder.contents().isEmpty)
        await preparer.shutdown()
    }

    @Test func `An upload stands for its source, and keeps its name`() async throws {
        let source = "upload:0123456789abcdef0123456789abcdef"
        var order = PreparationTask(AttachmentRequest(source: source))
        order.localFile = Self.picture.path
        order.folder = "job-1"
        let (manifest, freshness) = try await manifest(order)
        #expect(manifest.outcome == .passed)
        #expect(manifest.source.url == source)
        #expect(freshness == nil)
        await preparer.shutdown()
    }

    @Test func `Where an upload lies is told to nobody`() async throws {
        let source = "upload:0123456789abcdef0123456789abcdef"
        var order = PreparationTask(AttachmentRequest(source: source))
        order.localFile = "/nonexistent/secret/place"
        let (manifest, _) = try await manifest(order)
        #expect(manifest.error?.code == .sourceNotFound)
        #expect(manifest.error?.message.contains(source) == true)
        #expect(manifest.error?.message.contains("secret") == false)
        await preparer.shutdown()
    }

    @Test func `An upload without its file is no source`() async throws {
        let order = PreparationTask(AttachmentRequest(source: "upload:0123456789abcdef0123456789abcdef"))
        #expect(try await manifest(order).0.error?.code == .sourceInvalidURL)
        await preparer.shutdown()
    }
}
