import AttachPrepPages
import Foundation
import Testing

@testable import AttachPrepService

struct PageTests {
    @Test(arguments: ["/", "/?state=dead", "/?job=0193&q=a%20b"])
    func `the dashboard stands at the root, whatever the query says`(path: String) async throws {
        let answer = try await LiveService().stranger.get(path)
        #expect(answer.status == 200 && answer.body == Dashboard.page.bytes)
        #expect(answer.field("content-type") == "text/html; charset=utf-8")
    }

    @Test(arguments: Dashboard.files)
    func `each of its files has an address`(file: PageAsset) async throws {
        let answer = try await LiveService().stranger.get("/assets/\(file.name)")
        #expect(answer.status == 200 && answer.body == file.bytes)
        #expect(answer.field("content-type") == file.mediaType)
        #expect(answer.field("x-content-type-options") == "nosniff")
    }

    @Test(arguments: ["/assets/other.js", "/assets/", "/assets/..%2fdashboard.js", "/assets/dashboard.js/x"])
    func `there is no other file`(path: String) async throws {
        let answer = try await LiveService().stranger.get(path)
        #expect(answer.status == 404 && answer.code == "request.not_found")
    }

    @Test(arguments: ["/", "/assets/dashboard.js"])
    func `what a browser has already is not sent again`(path: String) async throws {
        let service = try await LiveService()
        let first = try await service.stranger.get(path)
        let tag = try #require(first.field("etag"))
        #expect(first.field("cache-control") == "no-cache")
        let again = try await service.stranger.get(path, [("If-None-Match", "\"other\", W/\(tag)")])
        #expect(again.status == 304 && again.body.isEmpty && again.field("etag") == tag)
        #expect(again.field("content-security-policy") == first.field("content-security-policy"))
        #expect(try await service.stranger.get(path, [("If-None-Match", "\"other\"")]).status == 200)
    }

    @Test(arguments: ["/", "/assets/dashboard.css"])
    func `a browser loads nothing for it from anywhere else, but the pictures of results`(path: String) async throws {
        let answer = try await LiveService().stranger.get(path)
        let policy = """
            default-src 'none'; script-src 'self'; style-src 'self'; \
            img-src 'self' data: blob: https://media.example; media-src 'self' data: blob: https://media.example; \
            connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
            require-trusted-types-for 'script'; trusted-types 'none'
            """
        #expect(answer.field("content-security-policy") == policy)
        #expect(answer.field("referrer-policy") == "no-referrer")
        #expect(answer.field("cross-origin-opener-policy") == "same-origin")
    }

    @Test(arguments: [
        ("https://media.example/push", "media.example", ""),
        ("https://media.example/push", "MEDIA.example:443", ""),
        ("https://media.example:8443", "media.example", " https://media.example:8443"),
        ("http://127.0.0.1:8080", "localhost:8080", " http://127.0.0.1:8080"),
        ("http://[::1]:8080", "[::1]:8080", ""),
        ("http://[::1]:8080", "localhost:8080", " http://[::1]:8080"),
    ])
    func `an address is named where it is another one than the page's`(
        baseURL: String, host: String, named: String
    ) async throws {
        let service = try await LiveService { $0.baseURL = baseURL }
        let answer = try await service.stranger.get("/", [("Host", host)])
        #expect(answer.field("content-security-policy")?.contains("img-src 'self' data: blob:\(named); ") == true)
    }

    @Test func `the place that results are published to is named`() async throws {
        let service = try await LiveService { settings in
            settings.baseURL = nil
            settings.publishedURL = "https://cdn.example/push/attachprep/manifest.json"
        }
        let policy = try await service.stranger.get("/").field("content-security-policy")
        #expect(policy?.contains("media-src 'self' data: blob: https://cdn.example; ") == true)
    }

    @Test(arguments: ["media.example", "file:///tmp", "null", "", "https://"])
    func `what is no web address has no origin`(text: String) {
        #expect(WebOrigin(text) == nil)
    }
}
