/// What people look at.
enum PagePaths {
    static let all: [String: JSONValue] = [
        "/": [
            "get": Operation.operation(
                "page", tag: "service", "A page of links",
                answers: [
                    "200": [
                        "description": "HTML", "headers": .object(HeaderDescriptions.usual),
                        "content": ["text/html": ["schema": ["type": "string"]]],
                    ]
                ], problems: [406], isOpen: true)
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
}
