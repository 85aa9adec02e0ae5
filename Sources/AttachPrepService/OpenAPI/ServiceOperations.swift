import AttachPrepJobs
import RichPush

/// The service at a glance.
enum OverviewPaths {
    static let all: [String: JSONValue] = [
        "/v1/overview": [
            "get": Operation.operation(
                "showOverview", tag: "service", "The service and its jobs at a glance",
                description: """
                    What the head of the dashboard shows. Jobs and their hour are at most two seconds old, and the \
                    same for everybody who asks meanwhile.
                    """,
                answers: ["200": Operation.answer("As it is", schema: "Overview")], problems: [406])
        ]
    ]
}

enum OverviewSchemas {
    static let all: [String: JSONValue] = [
        "Overview": Schema.object([
            "version": ["type": "string"],
            "startedAt": Schema.time,
            "takesUploads": ["type": "boolean"],
            "jobs": numbers(JobState.self, "Jobs there are, by state"),
            "errors": [
                "type": "array", "description": "Codes of failed and dead jobs, the most frequent first",
                "items": Schema.object(["code": ["$ref": "#/components/schemas/ErrorCode"], "jobs": Schema.side]),
            ],
            "due": whole("Queued jobs that could run now"),
            "oldestDueSeconds": Schema.numberOrNull,
            "webhooks": numbers(WebhookState.self, "Webhooks there are, by state"),
            "mediaBytes": whole("Decimal bytes of the files of results and uploads that are kept here"),
            "hour": ["$ref": "#/components/schemas/JobPace"],
            "children": children,
            "queue": Schema.object([
                "kind": ["enum": ["sqlite", "jetstream"]],
                "name": Schema.text("The data folder, or the servers"),
                "healthy": ["type": "boolean"], "reason": Schema.textOrNull,
            ]),
            "publish": Schema.object([
                "target": Schema.text("file, or s3://bucket/prefix"),
                "healthy": ["type": ["boolean", "null"], "description": "Null until the first look has ended"],
                "reason": Schema.textOrNull,
            ]),
            "ready": ["type": "boolean"], "reasons": ["type": "array", "items": ["type": "string"]],
        ]),
        "JobNumbers": Schema.object([
            "jobs": numbers(JobState.self, "Jobs there are, by state"),
            "due": whole("Queued jobs that could run now"), "oldestDueSeconds": Schema.numberOrNull,
        ]),
        "JobPace": Schema.object(
            latencies.merging([
                "until": Schema.time,
                "minutes": [
                    "type": "array", "minItems": .whole(JobPace.minutesCount), "maxItems": .whole(JobPace.minutesCount),
                    "description": "The hour before, the earliest minute first",
                    "items": Schema.object(
                        latencies.merging([
                            "succeeded": whole("Jobs that ended with an attachment"),
                            "failed": whole("Jobs that failed, or are dead"),
                        ]) { $1 }),
                ],
            ]) { $1 }),
    ]

    /// Percentiles are worked out from a few spans, within some percent.
    private static let latencies: [String: JSONValue] = [
        "medianSeconds": Schema.numberOrNull, "p95Seconds": Schema.numberOrNull,
    ]

    private static var children: JSONValue {
        var schema = Schema.object([
            "slots": Schema.side, "failed": whole("Replaced because they ended with a file"),
            "recycled": whole("Replaced in good order"),
        ])
        schema["type"] = ["object", "null"]
        schema["description"] = "Media children; null where jobs are taken in alone"
        return schema
    }

    private static func whole(_ description: String) -> JSONValue {
        ["type": "integer", "minimum": 0, "description": .text(description)]
    }

    private static func numbers<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type, _ description: String
    ) -> JSONValue where Word.RawValue == String {
        let members = Word.allCases.map { ($0.rawValue, JSONValue.object(["type": "integer", "minimum": 0])) }
        var schema = Schema.object(Dictionary(uniqueKeysWithValues: members))
        schema["description"] = .text(description)
        return schema
    }
}

enum ServiceSchemas {
    static let all: [String: JSONValue] = [
        "ErrorCode": ["type": "string", "enum": Schema.words(ErrorCode.self)],
        "Problem": Schema.object(
            [
                "type": Schema.text("urn:attachprep:problem: and the code", format: "uri"),
                "title": Schema.text("What the code means"),
                "status": ["type": "integer", "minimum": 400, "maximum": 599],
                "detail": Schema.text("What is wrong here, and what helps"),
                "instance": Schema.text("Names the request", format: "uri"),
                "code": ["$ref": "#/components/schemas/ErrorCode"],
                "retryable": ["type": "boolean", "description": "Whether the same request may succeed later"],
                "appleCode": ["type": "integer", "description": "Apple's UNError number, where one fits"],
                "errors": [
                    "type": "array", "description": "The bad lines of a batch",
                    "items": Schema.object([
                        "line": ["type": "integer", "minimum": 1], "detail": ["type": "string"],
                        "code": ["$ref": "#/components/schemas/ErrorCode"],
                    ]),
                ],
            ], optional: ["instance", "appleCode", "errors"]),
        "Upload": Schema.object([
            "source": ["type": "string", "pattern": "^upload:[0-9a-f]{32}$"],
            "bytes": ["type": "integer", "minimum": 1], "sha256": Schema.digest, "expiresAt": Schema.time,
        ]),
        "Health": Schema.object(["status": ["const": "ok"]]),
        "Session": Schema.object([
            "required": ["type": "boolean", "description": "Whether the service asks for a token at all"],
            "authorized": ["type": "boolean", "description": "Whether who asks is known, or need not be"],
        ]),
        "SessionOrder": Schema.object(["token": ["type": "string", "maxLength": .whole(Limits.tokenBytesMax)]]),
        "Readiness": Schema.object([
            "ready": ["type": "boolean"], "reasons": ["type": "array", "items": ["type": "string"]],
        ]),
    ]
}

/// What machines ask.
enum HealthPaths {
    static let all: [String: JSONValue] = [
        "/healthz": [
            "get": Operation.operation(
                "health", tag: "service", "Whether it is up",
                answers: ["200": Operation.answer("It is", schema: "Health")], problems: [406], isOpen: true)
        ],
        "/readyz": [
            "get": Operation.operation(
                "readiness", tag: "service", "Whether it can take in jobs and work on them",
                answers: [
                    "200": Operation.answer("It can", schema: "Readiness"),
                    "503": Operation.answer("It cannot, for these reasons", schema: "Readiness"),
                ], problems: [406], isOpen: true)
        ],
        "/metrics": [
            "get": metrics
        ],
    ]

    private static var metrics: JSONValue {
        var operation = Operation.operation(
            "metrics", tag: "service", "Figures for Prometheus",
            description: "A service may let callers on its own machine in without a token, unless they are proxies.",
            answers: [
                "200": [
                    "description": "In Prometheus' text format", "headers": .object(HeaderDescriptions.usual),
                    "content": ["text/plain": ["schema": ["type": "string"]]],
                ]
            ])
        operation["security"] = [["bearer": []], ["session": []], [:]]
        return operation
    }
}

/// How a browser becomes a caller.
enum SessionPaths {
    static let all: [String: JSONValue] = [
        "/v1/session": [
            "get": Operation.operation(
                "showSession", tag: "service", "Whether a token is asked for, and whether the caller is known",
                description: "Nobody has to show a token; who shows a wrong one is told so.",
                answers: ["200": Operation.answer("Both", schema: "Session")], problems: [401, 406, 429], isOpen: true),
            "post": Operation.operation(
                "beginSession", tag: "service", "Show a token, and be known by a cookie",
                description: """
                    The cookie is for browsers, is not shown to scripts, holds no token, and is good for \
                    \(Limits.sessionSecondsMax / 3600) hours, unless the token is taken back before. It stands for the \
                    token wherever Authorization shows none. What changes something is then taken from the service's \
                    own page alone (Sec-Fetch-Site: same-origin, or else Origin).
                    """,
                body: Operation.body(schema: "SessionOrder", example: ["token": "one-of-the-service's-tokens"]),
                answers: [
                    "200": Operation.answer("The caller is known", schema: "Session", headers: cookie)
                ], problems: [401, 406, 413, 415, 429], isOpen: true),
            "delete": Operation.operation(
                "endSession", tag: "service", "Have the browser forget it",
                answers: ["200": Operation.answer("It is asked to", schema: "Session", headers: cookie)],
                problems: [406], isOpen: true),
        ]
    ]

    private static let cookie = ["Set-Cookie": HeaderDescriptions.reference("Set-Cookie")]
}

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
