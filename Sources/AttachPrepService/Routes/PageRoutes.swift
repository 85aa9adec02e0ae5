import HTTPTypes
import Hummingbird
import NIOCore

/// The page at the root, and the description of all of it.
struct PageRoutes: Sendable {
    let document: ByteBuffer

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/", access: .everybody, produces: "text/html", query: nil, respond: page),
            Endpoint(method: .get, path: "/openapi.json", access: .everybody, query: nil, respond: description),
        ]
    }

    @Sendable private func page(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-cache",
            .contentSecurityPolicy:
                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
                + "frame-ancestors 'none'",
        ]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: Self.html)))
    }

    @Sendable private func description(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let headers: HTTPFields = [.contentType: JSONAnswer.mediaType, .cacheControl: "no-cache"]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: document))
    }

    private static let html = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>attachprep</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
        code { background: #8882; padding: 0 .2em; border-radius: 3px; }
        :root { color-scheme: light dark; }
        </style>
        </head>
        <body>
        <h1>attachprep</h1>
        <p>Prepares media for notification attachments. Jobs come in by <code>POST /v1/jobs</code>.</p>
        <ul>
        <li><a href="openapi.json">openapi.json</a>: every route, described (OpenAPI 3.1)</li>
        <li><a href="v1/jobs">v1/jobs</a>: the jobs (needs a token)</li>
        <li><a href="metrics">metrics</a>: for Prometheus</li>
        <li><a href="healthz">healthz</a> and <a href="readyz">readyz</a>: is it up, can it work</li>
        </ul>
        </body>
        </html>

        """
}
