import AttachPrepPages
import HTTPTypes
import Hummingbird
import NIOCore
import RichPush

/// The page at the root with its files, and the description of all that can be asked for.
struct PageRoutes: Sendable {
    private let policy: PagePolicy
    private let document: ByteBuffer
    private let page = PageFile(Dashboard.page)
    private let files = Dashboard.files.map(PageFile.init)

    init(policy: PagePolicy, document: ByteBuffer) {
        (self.policy, self.document) = (policy, document)
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/", access: .everybody, produces: "text/html", query: nil, respond: root),
            Endpoint(
                method: .get, path: "/assets/{name}", access: .everybody, produces: nil, query: nil, respond: asset),
            Endpoint(method: .get, path: "/openapi.json", access: .everybody, query: nil, respond: description),
        ]
    }

    @Sendable private func root(_ request: Request, _ context: ServiceContext) async throws -> Response {
        page.response(to: request, policy)
    }

    @Sendable private func asset(_ request: Request, _ context: ServiceContext) async throws -> Response {
        guard let file = files.first(where: { $0.name == context.parameters.get("name") }) else {
            throw AttachPrepError(.requestNotFound, "The page has no such file.")
        }
        return file.response(to: request, policy)
    }

    @Sendable private func description(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let headers: HTTPFields = [.contentType: JSONAnswer.mediaType, .cacheControl: "no-cache"]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: document))
    }
}
