import AttachPrepModel
import Foundation
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// What a page names is downloaded by the rules for sources.
@Suite(.timeLimit(.minutes(1))) struct UnfurlingTests {
    private let server: LoopbackServer
    private let other: LoopbackServer
    private let bench: DownloadBench
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        other = try LoopbackServer(address: "127.0.0.2")
        folder = try TemporaryFolder()
        // 127.0.0.2 stays blocked.
        bench = try DownloadBench(exempt: [try #require(IPAddress("127.0.0.1"))])
    }

    private func unfurling() throws -> Unfurling {
        let address = try WebAddress(server.url("/a/page"))
        let page = DownloadedFile(
            finalURL: address.shown, address: address, bytes: 1, sha256: "", timings: DownloadTimings(), attempts: 1)
        return try Unfurling(
            AttachmentRequest(source: address.text), bench.downloader, deadline: .now + .seconds(20), page: page)
    }

    private func candidates(_ links: PageLinks) async throws -> [Unfurling.Candidate] {
        var unfurling = try unfurling()
        return try await unfurling.candidates(links) {
            OwnedDescriptor(descriptor: try StagingFolder(output: folder.path).createUnnamed())
        }
    }

    @Test(arguments: ["http://127.0.0.2:PORT/a", "//127.0.0.2:PORT/a", "/redirect"])
    func `Blocked addresses get no request`(url: String) async throws {
        server.serve("/redirect", .status(302, ["Location": other.url("/a")]))
        let url = url.replacing("PORT", with: "\(other.port)")
        let candidate = try #require(try await candidates(PageLinks(links: [PageLink(.ogImage, url)])).first)
        let request = try unfurling().downloadRequest(for: candidate.address)
        let error = await #expect(throws: AttachPrepError.self) {
            try await bench.downloader.download(request, into: STDOUT_FILENO) { _, _ in .undecided }
        }
        #expect(error?.code == .sourceAddressBlocked)
        #expect(other.requests.isEmpty)
    }

    @Test func `A blocked oEmbed address gets no request`() async throws {
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await candidates(PageLinks(links: [PageLink(.oEmbed, other.url("/a"))]))
        }
        #expect(error?.code == .sourceAddressBlocked && other.requests.isEmpty)
    }

    @Test func `At most three different links are tried, the preferred first`() async throws {
        let links = (0..<9).map { PageLink(.ogImage, "\($0)") }
        let all = [PageLink(.ogImage, "7")] + links + [PageLink(.ogVideo, "v")]
        let found = try await candidates(PageLinks(links: all))
        #expect(found.map(\.address.text) == ["v", "7", "0"].map { server.url("/a/\($0)") })
    }

    @Test func `Without another link, an invalid one gives the error`() async throws {
        let links = [PageLink(.ogImage, "javascript:x"), PageLink(.twitterImage, "a.png")]
        #expect(try await candidates(PageLinks(links: links)).count == 1)
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await candidates(PageLinks(links: [links[0]]))
        }
        #expect(error?.code == .sourceSchemeNotAllowed)
    }

    @Test(arguments: [
        ("text/html; charset=UTF-8", "utf-8"), ("text/html;CHARSET = \"Shift_JIS\"", "shift_jis"), ("text/html", nil),
        ("text/html; charset=", nil), ("text/html; charset=a b\u{1}", nil),
        ("text/html; x=y; charset='latin1'", "latin1"),
    ])
    func `The encoding of a response is read from its content type`(field: String, charset: String?) {
        #expect(ResponseHead(status: 200, [("content-type", field)]).charset == charset)
    }
}
