import AttachPrep
import AttachPrepModel
import Foundation
import MediaProcessing
import RichPush
import TestSupport
import Testing

/// Requests with fallbacks: the first source that can be prepared wins.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FallbackTests {
    private let server: LoopbackServer
    private let output: TemporaryFolder
    private let preparer: AttachmentPreparer

    init() throws {
        (server, output) = (try LoopbackServer(), try TemporaryFolder())
        preparer = try Self.preparer(output.path) { $0.allowsPrivateNetwork = true }
        try serve("/snapshot.jpg", "grid.jpg", type: "image/jpeg")
        try serve("/clip.mp4", "clock.mp4", type: "video/mp4")
        server.serve("/page", .body(Data("<!doctype html><html><head></head></html>".utf8), type: "text/html"))
    }

    private static func preparer(_ output: String, _ change: (inout DownloadPolicy) -> Void) throws
        -> AttachmentPreparer
    {
        var configuration = PreparerConfiguration(output: output)
        change(&configuration.download)
        return try AttachmentPreparer(configuration, engine: try InProcessMediaEngine())
    }

    private func serve(_ path: String, _ sample: String, type: String) throws {
        server.serve(path, .body(try Data(contentsOf: URL(filePath: SourceTree.sample(sample))), type: type))
    }

    private func prepare(
        _ paths: String..., change: (inout AttachmentRequest) -> Void = { _ in }
    ) async -> Manifest {
        let urls = paths.map { $0.hasPrefix("/") ? server.url($0) : $0 }
        var request = AttachmentRequest(source: urls[0])
        request.fallbacks = Array(urls.dropFirst())
        request.id = "event"
        change(&request)
        return await preparer.prepare(request)
    }

    private func tried(_ paths: (String, ErrorCode?)...) -> [ManifestTriedSource] {
        paths.map { ManifestTriedSource(url: $0.0.hasPrefix("/") ? server.url($0.0) : $0.0, code: $0.1) }
    }

    // MARK: Which one wins

    @Test func `The source wins when it can be prepared, and no fallback is requested`() async {
        let manifest = await prepare("/clip.mp4", "/snapshot.jpg")
        #expect(manifest.attachment?.kind == .movie, "\(manifest.reasons)")
        #expect(manifest.source.tried == tried(("/clip.mp4", nil)))
        #expect(server.requests(to: "/snapshot.jpg").isEmpty)
    }

    @Test func `The first fallback that can be prepared wins, and the manifest tells why others did not`() async throws
    {
        let manifest = await prepare("/none.mp4", "/page", "/snapshot.jpg", "/clip.mp4")
        #expect(manifest.attachment?.kind == .image && manifest.outcome == .passed, "\(manifest.reasons)")
        #expect(
            manifest.source.tried
                == tried(("/none.mp4", .sourceNotFound), ("/page", .mediaUnrecognized), ("/snapshot.jpg", nil)))
        #expect(manifest.source.url == server.url("/none.mp4"))
        #expect(manifest.source.finalURL == server.url("/snapshot.jpg"))
        #expect(manifest.reasons.last?.contains("fallback 2 was used") == true, "\(manifest.reasons)")
        #expect(server.requests(to: "/clip.mp4").isEmpty)
        let stored = try Data(contentsOf: URL(filePath: output.path("event/manifest.json")))
        #expect(try JSONDecoder().decode(Manifest.self, from: stored).source.tried == manifest.source.tried)
    }

    @Test func `Media that cannot be used leads to the next source`() async throws {
        try serve("/broken.jpg", "truncated.jpg", type: "image/jpeg")
        let manifest = await prepare("/broken.jpg", "/snapshot.jpg")
        #expect(manifest.source.tried == tried(("/broken.jpg", .mediaCorrupt), ("/snapshot.jpg", nil)))
        #expect(manifest.source.mimeType == "image/jpeg" && manifest.error == nil)
    }

    @Test func `Without any, the error is that of the source with the number of fallbacks`() async throws {
        let manifest = await prepare("/none.mp4", "/page", "/none.jpg")
        #expect(manifest.error?.code == .sourceNotFound)
        #expect(manifest.error?.message.hasSuffix("The 2 fallbacks failed as well.") == true)
        #expect(manifest.source.tried?.compactMap(\.code) == [.sourceNotFound, .mediaUnrecognized, .sourceNotFound])
        #expect(try output.contents().isEmpty)
    }

    @Test func `A source in two places is requested once`() async {
        let manifest = await prepare("/none.mp4", "/none.mp4", "/none.jpg", "/none.jpg")
        #expect(manifest.source.tried?.count == 2 && server.requests.count == 2)
    }

    // MARK: Time

    @Test func `A source that never answers leaves time for its fallback`() async {
        server.serve("/hangs", LoopbackResponse([.hang]))
        let manifest = await prepare("/hangs", "/snapshot.jpg") { $0.budgetSeconds = 3 }
        #expect(manifest.attachment?.kind == .image, "\(manifest.reasons)")
        #expect(manifest.source.tried == tried(("/hangs", .deadlineExceeded), ("/snapshot.jpg", nil)))
    }

    @Test func `A source that is not there is waited for before its fallback is used`() async {
        let manifest = await prepare("/none.mp4", "/none.jpg", "/snapshot.jpg") { $0.waitSeconds = 0.5 }
        #expect(manifest.error == nil && server.requests(to: "/none.mp4").count > 1)
    }

    @Test func `A fallback may have been waited for as well`() async throws {
        let clip = try Data(contentsOf: URL(filePath: SourceTree.sample("clock.mp4")))
        server.serve("/late.mp4", inTurn: [.status(404), .status(404), .body(clip, type: "video/mp4")])
        let manifest = await prepare("/page", "/late.mp4") { $0.waitSeconds = 20 }
        #expect(manifest.attachment?.kind == .movie, "\(manifest.reasons)")
    }

    // MARK: What composes

    @Test func `The key of an encrypted source is not used for its fallback`() async throws {
        let file = try JSONDecoder().decode(MatrixFile.self, from: Data(Self.matrixFile.utf8))
        let manifest = await prepare("/clip.mp4", "/snapshot.jpg") { $0.matrix = file }
        #expect(manifest.source.tried == tried(("/clip.mp4", .mediaCorrupt), ("/snapshot.jpg", nil)))
    }

    private static let matrixFile = """
        {"file": {"v": "v2", "iv": "w+sE15fzSc0AAAAAAAAAAA",
            "key": {"kty": "oct", "alg": "A256CTR", "ext": true, "key_ops": ["encrypt", "decrypt"],
                "k": "aWF6-32KGYaC3A_FEUCk1Bt0JA37zP0wrStgmdCaW-0"},
            "hashes": {"sha256": "fdSLu/YkRx3Wyh3KQabP3rd6+SFiKg5lsJZQHtkSAYA"}}}
        """

    @Test func `A page that is a fallback is unfurled`() async {
        let page = "<!doctype html><html><head><meta property=og:image content=/snapshot.jpg>"
        server.serve("/event", .body(Data(page.utf8), type: "text/html"))
        let manifest = await prepare("/none.mp4", "/event") { $0.unfurls = true }
        #expect(manifest.source.page?.property == .ogImage && manifest.error == nil, "\(manifest.reasons)")
    }

    @Test func `The result of a fallback has no validators, since the source may exist the next time`() async throws {
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        server.serve("/a.jpg", .body(image, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=60"]))
        var request = AttachmentRequest(source: server.url("/none.mp4"))
        request.fallbacks = [server.url("/a.jpg")]
        guard case .ended(let manifest, let freshness) = await preparer.prepare(PreparationTask(request)) else {
            return
        }
        #expect(manifest.error == nil && freshness == SourceFreshness())
    }

    // MARK: Hostile lists

    @Test func `A list of thousands is refused before anything is requested`() async {
        let manifest = await prepare("/none.mp4") {
            $0.fallbacks = Array(repeating: "https://a.example/", count: 5_000)
        }
        #expect(manifest.error?.code == .requestInvalid && manifest.error?.message.contains("5,000") == true)
        #expect(server.requests.isEmpty)
    }

    @Test func `Each fallback is subject to the address policy, also after a redirect`() async throws {
        let other = try TemporaryFolder()
        let strict = try Self.preparer(other.path) { _ in }
        var request = AttachmentRequest(source: server.url("/snapshot.jpg"))
        request.fallbacks = [
            "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/a.jpg",
            "http://localhost:\(server.port)/snapshot.jpg",
        ]
        let manifest = await strict.prepare(request)
        #expect(manifest.source.tried?.map(\.code) == Array(repeating: .sourceAddressBlocked, count: 4))
        #expect(server.connectionCount == 0)
        await strict.shutdown()
    }

    @Test func `Sources that redirect to each other end with their own limit each`() async {
        server.serve("/a", .redirect("/b"))
        server.serve("/b", .redirect("/a"))
        let manifest = await prepare("/a", "/b", "/snapshot.jpg")
        #expect(manifest.source.tried?.map(\.code) == [.downloadTooManyRedirects, .downloadTooManyRedirects, nil])
        #expect(server.requests.count <= 13)
    }

    @Test(arguments: ["file:///etc/passwd", "/etc/passwd", "javascript:alert(1)", "upload:0123"])
    func `A fallback that is no URL is an error of the request`(fallback: String) async {
        let manifest = await prepare("/snapshot.jpg") { $0.fallbacks = [fallback] }
        #expect(manifest.error?.code.rawValue.hasPrefix("source.") == true)
        #expect(server.requests.isEmpty)
    }

    @Test func `Secrets of fallbacks are not in the manifest`() async {
        let secret = server.url("/none.jpg").replacingOccurrences(of: "http://", with: "http://me:s3cr3t@")
        let manifest = await prepare("/none.mp4", secret + "?token=s3cr3t")
        #expect(manifest.source.tried?.count == 2)
        #expect(String(describing: manifest).contains("s3cr3t") == false)
    }

    @Test func `A cancelled request tries no further source`() async {
        server.serve("/hangs", LoopbackResponse([.hang]))
        let task = Task { await prepare("/hangs", "/snapshot.jpg") }
        await server.until { $0.requests.count == 1 }
        task.cancel()
        #expect(await task.value.error?.code == .cancelled)
        #expect(server.requests(to: "/snapshot.jpg").isEmpty)
    }
}
