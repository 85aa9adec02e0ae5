import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The service as OpenAPI 3.1 describes it; a test holds it to the routes, and a fuzzer to what they answer.
enum OpenAPIDocument {
    static let value: JSONValue = [
        "openapi": "3.1.0",
        "info": [
            "title": "attachprep", "version": "1", "summary": "Media for notification attachments",
            "description": """
            Takes requests, prepares the media they name, and serves the results. Times are RFC 3339 in UTC, \
            bytes are decimal. Errors are application/problem+json with a stable code.
            """,
        ],
        "tags": [
            ["name": "jobs", "description": "Requests that are worked on"],
            ["name": "payloads", "description": "Notifications whose media is prepared"],
            ["name": "webhooks", "description": "What callers are told when a job ends"],
            ["name": "uploads", "description": "Files as sources"],
            ["name": "receipts", "description": "What devices say of notifications, and what comes of it"],
            ["name": "media", "description": "What phones fetch"],
            ["name": "service", "description": "The service about itself"],
        ],
        "security": [["bearer": []], ["session": []]],
        "paths": .object(paths),
        "webhooks": .object(WebhookDescription.events),
        "components": [
            "securitySchemes": [
                "bearer": [
                    "type": "http", "scheme": "bearer",
                    "description": "One of the service's tokens. A service without tokens asks for none, on loopback.",
                ],
                "session": [
                    "type": "apiKey", "in": "cookie", "name": "attachprep",
                    "description": "A browser's, of POST /v1/session; __Host-attachprep where the base URL is https.",
                ],
            ],
            "schemas": .object(schemas),
            "responses": .object(ProblemResponses.all),
            "headers": .object(HeaderDescriptions.all),
        ],
    ]

    static let bytes: ByteBuffer = {
        guard let data = try? JSONAnswer.encoder().encode(value) else {
            preconditionFailure("a value of literals is encodable")
        }
        return ByteBuffer(bytes: data)
    }()

    /// With a HEAD for each GET: it answers the same without a body.
    private static var paths: [String: JSONValue] {
        let groups = [
            SubmissionPaths.all, PayloadPaths.all, JobPaths.all, WebhookPaths.all, UploadPaths.all, EventPaths.all,
            ReceiptPaths.all, MediaPaths.all, HealthPaths.all, PagePaths.all,
            SessionPaths.all, OverviewPaths.all,
        ]
        return groups.reduce(into: [:]) { paths, group in
            for (path, item) in group {
                paths[path] = (paths[path] ?? [:]).merging(item)
                if item["get"] != .null { paths[path]?["head"] = Operation.head(of: item["get"]) }
            }
        }
    }

    private static var schemas: [String: JSONValue] {
        [
            RequestSchemas.all, PayloadSchemas.all, ManifestSchemas.all, JobSchemas.all, WebhookSchemas.all,
            ReceiptSchemas.all, ServiceSchemas.all, OverviewSchemas.all, EventPaths.schemas,
        ]
        .reduce(into: [:]) { $0.merge($1) { $1 } }
    }
}
