import AttachPrep
import AttachPrepModel
import Foundation
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// The whole pipeline in one process, from a loopback server to the output folder, for the sanitizers.
@Suite(.timeLimit(.minutes(10))) struct InProcessPreparationTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder
    private let preparer: AttachmentPreparer

    init() throws {
        server = try LoopbackServer()
        try server.serve(folder: SourceTree.root.appendingPathComponent("samples/media"))
        folder = try TemporaryFolder()
        var configuration = PreparerConfiguration(output: folder.url.path)
        configuration.download.allowsPrivateNetwork = true
        preparer = try AttachmentPreparer(configuration, engine: try InProcessMediaEngine(mediaSlots: 2))
    }

    private func request(_ name: String, budget: Double = 300) -> AttachmentRequest {
        var request = AttachmentRequest(source: server.url("/\(name)"))
        request.id = name
        request.budgetSeconds = budget
        return request
    }

    private func bytes(_ file: String, of manifest: Manifest) -> Int? {
        FileManager.default.contents(atPath: folder.url.appendingPathComponent("\(manifest.id)/\(file)").path)?.count
    }

    /// What is in the output folder, hidden names too.
    private var results: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? [])
    }

    private static let outcomes: [String: Outcome] = [
        "grid.jpg": .passed, "grid.webp": .converted, "grid.heic": .converted, "counter.webp": .converted,
        "counter.gif": .passed, "clock.webm": .converted, "clock.mp4": .passed, "hevc.mp4": .passed,
        "tone.ogg": .converted, "cover.mp3": .passed, "empty.png": .rejected, "arrow.svg": .rejected,
        "grid.ico": .converted, "tune.mid": .rejected,
        "truncated.jpg": .rejected,
    ]

    @Test(arguments: outcomes.keys.sorted())
    func `A sample has the same outcome as in the media process pool`(name: String) async throws {
        let manifest = await preparer.prepare(request(name))
        #expect(manifest.outcome == Self.outcomes[name], "\(manifest.error?.message ?? "")")
        guard let attachment = manifest.attachment else {
            #expect(results.isEmpty)
            return
        }
        #expect(bytes(attachment.file, of: manifest) == attachment.bytes)
        if let thumbnail = manifest.thumbnail { #expect(bytes(thumbnail.file, of: manifest) == thumbnail.bytes) }
        #expect(results == [name])
        await preparer.shutdown()
    }

    @Test func `A prepared image is reduced to a preview`() async throws {
        let manifest = await preparer.prepare(request("grid.webp"))
        let thumbnail = try #require(manifest.thumbnail)
        let path = folder.path("\(manifest.id)/\(thumbnail.file)")
        let previewImage = try await preparer.previewImage(ofFile: path, sidePixels: 105)
        let image = try TestImage(decoding: folder.write(previewImage.bytes, to: "preview.jpg"))
        #expect(image.width == 105 && image.height == 79)
        #expect(ImageDistance(image, try TestImage(decoding: path)).mean < 6)
        await #expect(throws: AttachPrepError.self) {
            try await preparer.previewImage(ofFile: folder.path("nothing.jpg"), sidePixels: 105)
        }
        await preparer.shutdown()
    }

    @Test func `Concurrent requests each get their own result`() async throws {
        let names = Self.outcomes.keys.sorted()
        let manifests = await withTaskGroup(of: Manifest.self) { group in
            for name in names { group.addTask { await preparer.prepare(request(name)) } }
            return await group.reduce(into: [:]) { $0[$1.id] = $1 }
        }
        for name in names { #expect(manifests[name]?.outcome == Self.outcomes[name], "\(name)") }
        #expect(results == Set(names.filter { Self.outcomes[$0] != .rejected }))
        await preparer.shutdown()
    }

    @Test func `Cancelled requests leave nothing behind`() async throws {
        let gate = LoopbackGate()
        server.serve("/late") { _ in LoopbackResponse([.wait(gate), .close]) }
        let task = Task { await preparer.prepare(request("late")) }
        await server.until { !$0.requests(to: "/late").isEmpty }
        task.cancel()
        #expect(await task.value.error?.code == .cancelled)
        #expect(results.isEmpty)
        gate.open()
        await preparer.shutdown()
    }

    @Test func `A request without time for its movie ends, and leaves no partial files`() async throws {
        let manifest = await preparer.prepare(request("clock.webm", budget: 0.3))
        #expect(manifest.outcome == .rejected || manifest.outcome == .bestAttempt || manifest.outcome == .converted)
        #expect(results == (manifest.attachment == nil ? [] : ["clock.webm"]))
        await preparer.shutdown()
    }

    @Test func `The engine describes its libraries and abilities`() async throws {
        let description = try await preparer.describe()
        #expect(description.libraries.contains { $0.name == "libvips" })
        #expect(description.abilities.contains { $0.name == "write JPEG" && $0.isAvailable })
        await preparer.shutdown()
    }
}
