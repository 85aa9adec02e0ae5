/// What people look at.
enum PagePaths {
    static let all: [String: JSONValue] = [
        "/": [
            "get": Operation.operation(
                "page", tag: "service", "The dashboard",
                description: "The same page whatever the query says, which is for the page itself.",
                parameters: [known], answers: ["200": content("HTML", ["text/html"]), "304": unchanged],
                problems: [406], isOpen: true)
        ],
        "/assets/{name}": [
            "get": Operation.operation(
                "pageFile", tag: "service", "A file of the dashboard",
                parameters: [
                    Operation.path(
                        "name", "As the page names it",
                        schema: ["type": "string", "pattern": "^[a-z-]+[.][a-z0-9]+$", "maxLength": 100]),
                    known,
                ],
                answers: [
                    "200": content("The file", ["text/css", "text/javascript", "image/svg+xml"]), "304": unchanged,
                ], problems: [404], isOpen: true)
        ],
        "/openapi.json": [
            "get": Operation.operation(
                "describe", tag: "service", "This document",
                answers: [
                    "200": [
                        "description": "OpenAPI 3.1", "headers": .object(HeaderDescriptions.usual),
                        "content": ["application/json": ["schema": ["type": "object"]]],
                    ]
                ], problems: [406], isOpen: true)
        ],
    ]

    private static let known = Operation.header("If-None-Match", "ETags that are known", schema: ["type": "string"])

    private static let unchanged: JSONValue = [
        "description": "The caller has it already", "headers": .object(HeaderDescriptions.usual),
    ]

    private static func content(_ description: String, _ types: [String]) -> JSONValue {
        let headers = ["ETag", "Cache-Control"].map { ($0, HeaderDescriptions.reference($0)) }
        let content = types.map { ($0, JSONValue.object(["schema": ["type": "string"]])) }
        return [
            "description": .text(description),
            "headers": .object(HeaderDescriptions.usual.merging(headers) { $1 }),
            "content": .object(Dictionary(uniqueKeysWithValues: content)),
        ]
    }
}
