import AttachPrep
import AttachPrepModel
import Foundation
import MediaProcessing
import RichPush
import TestSupport
import Testing

/// Web pages whose image or video is taken (`unfurl`).
@Suite(.serialized, .timeLimit(.minutes(3))) struct UnfurlTests {
    private let server: LoopbackServer
    private let output: TemporaryFolder
    private let preparer: AttachmentPreparer

    init() throws {
        (server, output) = (try LoopbackServer(), try TemporaryFolder())
        var configuration = PreparerConfiguration(output: output.path)
        configuration.download.allowsPrivateNetwork = true
        preparer = try AttachmentPreparer(configuration, engine: try InProcessMediaEngine())
        try serve("/grid.png", "grid.png", type: "image/png")
        try serve("/clock.mp4", "clock.mp4", type: "video/mp4")
    }

    private func serve(_ path: String, _ sample: String, type: String) throws {
        server.serve(path, .body(try Data(contentsOf: URL(filePath: SourceTree.sample(sample))), type: type))
    }

    private func serve(page: String, at path: String = "/page", type: String = "text/html; charset=utf-8") {
        server.serve(path, .body(Data(("<!doctype html><html><head>" + page).utf8), type: type))
    }

    private func prepare(
        _ path: String = "/page", unfurls: Bool = true, _ change: (inout AttachmentRequest) -> Void = { _ in }
    ) async -> Manifest {
        var request = AttachmentRequest(source: path.hasPrefix("/") ? server.url(path) : path)
        request.id = "page"
        request.budgetSeconds = 60
        request.unfurls = unfurls
        change(&request)
        return await preparer.prepare(request)
    }

    private func meta(_ property: String, _ url: String) -> String {
        "<meta property=\"\(property)\" content=\"\(url)\">"
    }

    // MARK: What is taken

    @Test func `The image of a page is delivered, and the manifest names the page and the property`() async throws {
        serve(page: meta("og:image", "/grid.png"))
        let manifest = await prepare()
        #expect(manifest.outcome == .passed, "\(manifest.reasons)")
        #expect(manifest.source.page == ManifestPage(url: server.url("/page"), property: .ogImage))
        #expect(manifest.source.url == server.url("/page") && manifest.source.finalURL == server.url("/grid.png"))
        #expect(manifest.source.mimeType == "image/png" && manifest.attachment?.mimeType == "image/png")
    }

    @Test func `A video is preferred to an image, and an image of og to the others`() async throws {
        let links = "<link rel=image_src href=/none>" + meta("twitter:image", "/none") + meta("og:image", "/grid.png")
        serve(page: links)
        #expect(await prepare().source.page?.property == .ogImage)
        serve(page: links + meta("og:video", "/clock.mp4"))
        let manifest = await prepare()
        #expect(manifest.source.page?.property == .ogVideo && manifest.source.mimeType == "video/mp4")
    }

    @Test func `A link that is missing or a page is skipped`() async throws {
        serve(page: "player", at: "/player")
        serve(page: meta("og:video", "/player") + meta("og:image", "/none.png") + meta("twitter:image", "/grid.png"))
        #expect(await prepare().source.page?.property == .twitterImage)
    }

    @Test func `Relative URLs are relative to the base, or to the URL after redirects`() async throws {
        try serve("/deep/er/grid.png", "grid.png", type: "image/png")
        server.serve("/start", .status(302, ["Location": "/deep/page"]))
        serve(page: meta("og:image", "er/grid.png"), at: "/deep/page")
        let manifest = await prepare("/start")
        #expect(manifest.source.finalURL == server.url("/deep/er/grid.png"))
        #expect(manifest.source.page?.url == server.url("/deep/page"))
        serve(page: "<base href='deep/er/'>" + meta("og:image", "grid.png"))
        #expect(await prepare().source.finalURL == server.url("/deep/er/grid.png"))
    }

    @Test(arguments: [
        #"{"type": "photo", "version": "1.0", "url": "grid.png", "thumbnail_url": "none"}"#,
        #"{"type": "video", "html": "<iframe>", "thumbnail_url": "/grid.png"}"#,
    ])
    func `The image of an oEmbed answer is taken`(answer: String) async throws {
        serve(page: "<link rel=alternate type='application/json+oembed' href='/oembed?url=x'>")
        server.serve("/oembed", .body(Data(answer.utf8), type: "application/json"))
        let manifest = await prepare()
        #expect(manifest.source.page?.property == .oEmbed && manifest.outcome == .passed, "\(manifest.reasons)")
    }

    @Test func `Only the first mebibyte of a page is downloaded`() async throws {
        let start = Data(("<!doctype html><html><head>" + meta("og:image", "/grid.png") + "<body>").utf8)
        server.serve("/page") { _ in
            LoopbackResponse.head(200, ["Content-Type": "text/html"]).then(
                .send(start), .sendForever(Data(repeating: 0x61, count: 65_536)))
        }
        let manifest = await prepare()
        #expect(manifest.outcome == .passed, "\(manifest.reasons)")
        #expect(preparer.statistics.downloadedBytes < 1_300_000)
        // A declared length over the limit is no reason to refuse.
        server.serve("/page", .body(start + Data(repeating: 0x61, count: 3_000_000), type: "text/html"))
        #expect(await prepare().outcome == .passed)
    }

    @Test func `Media is prepared as without the option`() async throws {
        let manifest = await prepare("/grid.png")
        #expect(manifest.outcome == .passed && manifest.source.page == nil)
    }

    // MARK: Refusals

    @Test func `Without the option the error names the image`() async throws {
        serve(page: meta("og:image", server.url("/grid.png")))
        let manifest = await prepare(unfurls: false)
        #expect(manifest.error?.code == .mediaUnrecognized)
        #expect(manifest.error?.message.contains("its og:image is \(server.url("/grid.png")): request that") == true)
        #expect(server.requests(to: "/grid.png").isEmpty)
    }

    @Test func `Without the option a page without an image is refused as before`() async throws {
        serve(page: "<title>Sign in</title>")
        #expect(await prepare(unfurls: false).error?.message.hasPrefix("The source is text/html, not an image") == true)
    }

    @Test func `A page without media, or whose media is a page, is media.unrecognized`() async throws {
        serve(page: "<title>Sign in</title>")
        #expect(await prepare().error?.message.contains("names no image or video") == true)
        serve(page: meta("og:image", "/next"))
        serve(page: meta("og:image", "/grid.png"), at: "/next")
        let manifest = await prepare()
        #expect(manifest.error?.message.contains("another web page") == true && manifest.source.page == nil)
        #expect(server.requests(to: "/grid.png").isEmpty)
    }

    @Test(arguments: ["/page", "#top", "", "page?", "/other"])
    func `Pages that name each other end at once`(url: String) async throws {
        serve(page: meta("og:image", url))
        serve(page: meta("og:image", "/page"), at: "/other")
        #expect(await prepare().error?.code == .mediaUnrecognized)
        #expect(server.requests.count <= 3)
    }

    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "data:image/png;base64,iVBORw0KGgo=", "ftp://127.0.0.1/a.png",
        "blob:x", "about:blank",
    ])
    func `Other schemes are refused`(url: String) async throws {
        serve(page: meta("og:image", url) + "<base href='file:///etc/'>")
        #expect(await prepare().error?.code == .sourceSchemeNotAllowed)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["{}", "[]", "nothing", "", "{\"type\": \"photo\", \"url\": 5}", "\u{FEFF}{}"])
    func `An oEmbed answer without an image is media.unrecognized`(answer: String) async throws {
        serve(page: "<link rel=alternate type=application/json+oembed href=/oembed>")
        server.serve("/oembed", .body(Data(answer.utf8)))
        #expect(await prepare().error?.code == .mediaUnrecognized)
    }

    @Test func `An endless oEmbed answer is download.too_large`() async throws {
        serve(page: "<link rel=alternate type=application/json+oembed href=/oembed>")
        server.serve("/oembed") { _ in LoopbackResponse.head(200).then(.sendForever(Data("[".utf8))) }
        #expect(await prepare().error?.code == .downloadTooLarge)
    }

    @Test func `An image that never arrives ends at the deadline`() async throws {
        serve(page: meta("og:image", "/slow"))
        server.serve("/slow", LoopbackResponse([.hang]))
        #expect(await prepare { $0.budgetSeconds = 1 }.error?.code == .deadlineExceeded)
    }

    @Test func `Headers and credentials go to the requested origin only`() async throws {
        let other = try LoopbackServer(address: "127.0.0.2")
        serve(page: meta("og:image", other.url("/none.png")) + meta("og:image", "/grid.png"))
        let url = server.url("/page").replacing("http://", with: "http://user:secret@")
        let manifest = await prepare(url) { $0.headers = ["X-Token": "t", "If-None-Match": "\"x\""] }
        #expect(manifest.outcome == .passed && manifest.source.page?.url.contains("secret") == false)
        let (own, foreign) = (server.requests(to: "/grid.png").first, other.requests(to: "/none.png").first)
        #expect(own?.headers["x-token"] == "t" && own?.headers["authorization"]?.hasPrefix("Basic ") == true)
        #expect(own?.headers["if-none-match"] == nil)
        #expect(foreign != nil && foreign?.headers["x-token"] == nil && foreign?.headers["authorization"] == nil)
    }
}
