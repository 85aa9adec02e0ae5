import AttachPrep
import AttachPrepModel
import AttachPrepPages
import Crypto
import HTTPTypes
import Hummingbird
import MediaTypes
import NIOCore

/// Serves the dashboard at `/`, its assets, and `/openapi.json`.
struct PageRoutes: Sendable {
    private let policy: PagePolicy
    /// `OpenAPI/openapi.json`, unchanged; OpenAPITests compare it with the routes and tables of the code.
    private let document = ByteBuffer(bytes: OpenAPIDocument.json)
    private let page = PageFile(Dashboard.page)
    private let files = Dashboard.files.map(PageFile.init)

    init(policy: PagePolicy) {
        self.policy = policy
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/", access: .anyone, produces: "text/html", query: nil, respond: root),
            Endpoint(
                method: .get, path: "/assets/{name}", access: .anyone, produces: nil, query: nil, respond: asset),
            Endpoint(method: .get, path: "/openapi.json", access: .anyone, query: nil, respond: description),
        ]
    }

    @Sendable private func root(_ request: Request, in context: ServiceContext) async throws -> Response {
        page.response(to: request, policy)
    }

    @Sendable private func asset(_ request: Request, in context: ServiceContext) async throws -> Response {
        guard let file = files.first(where: { $0.name == context.parameters.get("name") }) else {
            throw AttachPrepError(.requestNotFound, "No asset with this name.")
        }
        return file.response(to: request, policy)
    }

    @Sendable private func description(_ request: Request, in context: ServiceContext) async throws -> Response {
        let headers: HTTPFields = [.contentType: JSONResponse.mediaType, .cacheControl: "no-cache"]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: document))
    }
}

/// A file of the dashboard, which browsers revalidate by its `ETag` on each load.
struct PageFile: Sendable {
    let name: String
    private let tag: EntityTag
    private let mediaType: String
    private let content: ByteBuffer

    init(_ asset: PageAsset) {
        name = asset.name
        tag = EntityTag(sha256: SHA256.hash(data: asset.bytes).hexadecimal)
        mediaType = asset.mediaType
        content = ByteBuffer(bytes: asset.bytes)
    }

    func response(to request: Request, _ policy: PagePolicy) -> Response {
        var headers = policy.headers(for: request)
        headers[.eTag] = tag.text
        headers[.cacheControl] = "no-cache"
        if tag.isKnown(to: request) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = mediaType
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: content))
    }
}

/// The security headers of the dashboard: content security policy, referrer policy and opener policy.
struct PagePolicy: Sendable {
    /// Origins from which result files are loaded.
    private let media: [WebOrigin]

    init(_ settings: ServiceSettings) {
        media = [settings.baseURL, settings.publishedURL].compactMap { $0.flatMap(WebOrigin.init) }
    }

    /// The headers of a response. The origin that the request is sent to is covered by `'self'`.
    func headers(for request: Request) -> HTTPFields {
        let others = media.filter { !$0.isNamed(by: request.head.authority ?? "") }.map { " \($0.text)" }.joined()
        let rules = [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:\(others)",
            "media-src 'self' data: blob:\(others)", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
        ]
        return [
            .contentSecurityPolicy: rules.joined(separator: "; "), .referrerPolicy: "no-referrer",
            .openerPolicy: "same-origin",
        ]
    }
}
