import AttachPrepPages
import Foundation
import Testing

@testable import AttachPrepService

struct PageRouteTests {
    @Test(arguments: ["/", "/?state=dead", "/?job=0193&q=a%20b"])
    func `The dashboard is served at the root with any query`(path: String) async throws {
        let response = try await LiveService().anonymous.get(path)
        #expect(response.status == 200 && response.body == Dashboard.page.bytes)
        #expect(response.field("content-type") == "text/html; charset=utf-8")
    }

    @Test(arguments: Dashboard.files)
    func `Each asset has a URL`(file: PageAsset) async throws {
        let response = try await LiveService().anonymous.get("/assets/\(file.name)")
        #expect(response.status == 200 && response.body == file.bytes)
        #expect(response.field("content-type") == file.mediaType)
        #expect(response.field("x-content-type-options") == "nosniff")
    }

    @Test(arguments: ["/assets/other.js", "/assets/", "/assets/..%2fdashboard.js", "/assets/dashboard.js/x"])
    func `Other asset paths return 404`(path: String) async throws {
        let response = try await LiveService().anonymous.get(path)
        #expect(response.status == 404 && response.code == "request.not_found")
    }

    @Test(arguments: ["/", "/assets/dashboard.js"])
    func `A page with a known ETag is not sent again`(path: String) async throws {
        let service = try await LiveService()
        let first = try await service.anonymous.get(path)
        let tag = try #require(first.field("etag"))
        #expect(first.field("cache-control") == "no-cache")
        let again = try await service.anonymous.get(path, [("If-None-Match", "\"other\", W/\(tag)")])
        #expect(again.status == 304 && again.body.isEmpty && again.field("etag") == tag)
        #expect(again.field("content-security-policy") == first.field("content-security-policy"))
        #expect(try await service.anonymous.get(path, [("If-None-Match", "\"other\"")]).status == 200)
    }

    @Test(arguments: ["/", "/assets/dashboard.css"])
    func `The content security policy allows only own resources and the results' media`(path: String) async throws {
        let response = try await LiveService().anonymous.get(path)
        let policy = """
            default-src 'none'; script-src 'self'; style-src 'self'; \
            img-src 'self' data: blob: https://media.example; media-src 'self' data: blob: https://media.example; \
            connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
            require-trusted-types-for 'script'; trusted-types 'none'
            """
        #expect(response.field("content-security-policy") == policy)
        #expect(response.field("referrer-policy") == "no-referrer")
        #expect(response.field("cross-origin-opener-policy") == "same-origin")
    }

    @Test(arguments: [
        ("https://media.example/push", "media.example", ""),
        ("https://media.example/push", "MEDIA.example:443", ""),
        ("https://media.example:8443", "media.example", " https://media.example:8443"),
        ("http://127.0.0.1:8080", "localhost:8080", " http://127.0.0.1:8080"),
        ("http://[::1]:8080", "[::1]:8080", ""),
        ("http://[::1]:8080", "localhost:8080", " http://[::1]:8080"),
    ])
    func `The policy names the base URL's origin if it differs from the page's`(
        baseURL: String, host: String, named: String
    ) async throws {
        let service = try await LiveService { $0.baseURL = baseURL }
        let response = try await service.anonymous.get("/", [("Host", host)])
        #expect(response.field("content-security-policy")?.contains("img-src 'self' data: blob:\(named); ") == true)
    }

    @Test func `The policy names the origin of published results`() async throws {
        let service = try await LiveService { settings in
            settings.baseURL = nil
            settings.publishedURL = "https://cdn.example/push/attachprep/manifest.json"
        }
        let policy = try await service.anonymous.get("/").field("content-security-policy")
        #expect(policy?.contains("media-src 'self' data: blob: https://cdn.example; ") == true)
    }

    @Test(arguments: ["media.example", "file:///tmp", "null", "", "https://"])
    func `A value that is not a web URL has no origin`(text: String) {
        #expect(WebOrigin(text) == nil)
    }
}
