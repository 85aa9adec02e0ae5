import RichPush

/// `POST /v1/payloads`.
enum PayloadPaths {
    static let all: [String: JSONValue] = [
        "/v1/payloads": [
            "post": Operation.operation(
                "rewritePayload", tag: "payloads", "Prepare the media of an APNs payload, and put its addresses in",
                description: """
                    Finds the media in the payload, prepares it, and answers with the payload to send: the addresses \
                    replaced where they stood, one member "attachprep" added, everything else byte for byte the same. \
                    Media that cannot be delivered, or is not ready in time, is taken out, and a warning says why; \
                    its manifest says it too. The answer comes when all media is ready or has failed once, and after \
                    the request's budget at the latest.
                    """,
                parameters: [
                    Operation.header(
                        "Prefer", "RFC 7240: wait=N waits at most N seconds for the media",
                        schema: SubmissionPaths.preference)
                ],
                body: Operation.body(schema: "PayloadSubmission", example: example),
                answers: ["200": Operation.answer("The payload to send", schema: "PayloadResult")],
                problems: [406, 413, 415, 422], callbacks: WebhookDescription.callbacks("/request/callbackURL"))
        ]
    ]

    static let example: JSONValue = [
        "payload": [
            "aps": ["alert": "A cat", "mutable-content": 1], "attach": "https://cdn.example.org/cat.webp",
        ],
        "request": ["rendition": "display"],
    ]
}

enum PayloadSchemas {
    static let all: [String: JSONValue] = [
        "PayloadSubmission": [
            "type": "object", "additionalProperties": false, "required": ["payload"], "properties": .object(members),
            "description": "A dialect and a mediaKey are two ways to say where media is: at most one of them.",
            "allOf": [
                [
                    "not": [
                        "required": ["dialect", "mediaKey"],
                        "properties": ["dialect": ["type": "string"], "mediaKey": ["type": "string"]],
                    ]
                ],
                [
                    "not": [
                        "required": ["neutral", "campaign"],
                        "properties": ["neutral": ["const": false], "campaign": ["type": "string"]],
                    ]
                ],
            ],
        ],
        "PayloadResult": Schema.object([
            "payload": ["type": "object", "description": "As it can be sent: at most 4,096 bytes"],
            "manifests": Schema.list("Manifest"),
            "warnings": [
                "type": "array",
                "items": Schema.object([
                    "code": ["type": "string", "enum": Schema.words(PayloadWarning.Code.self)],
                    "level": ["type": "string", "enum": Schema.words(PayloadWarning.Level.self)],
                    "message": ["type": "string"],
                ]),
            ],
        ]),
    ]

    private static let members: [String: JSONValue] = [
        "payload": ["type": "object", "description": "The payload as it would be sent to APNs"],
        "dialect": [
            "description": "Whose way of naming media is meant; else it is found out",
            "enum": .list(PayloadDialect.all.map { .text($0.name) } + [.null]),
        ],
        "mediaKey": [
            "type": ["string", "null"], "minLength": 1, "description": "A key of your own: a.b.c; not with a dialect",
        ],
        "request": [
            "type": ["object", "null"],
            "description": "An AttachmentRequest without a source: what is asked of all media in it",
            "additionalProperties": false, "properties": RequestSchemas.withoutSource,
        ],
        "campaign": [
            "type": ["string", "null"], "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
            "description": "Asks phones for a receipt, and counts them under this name",
        ],
        "recipients": [
            "type": ["integer", "null"], "minimum": 1, "maximum": .whole(Limits.dispatchRecipientsMax),
            "description": "Phones that the payload is sent to; 1 when left out",
        ],
        "neutral": [
            "type": ["boolean", "null"],
            "description": "Whether the member \"attachprep\" is added; true when left out. Not false with a campaign",
        ],
        "sentAt": [
            "type": ["string", "null"], "format": "date-time", "description": "When it goes out; now when left out",
        ],
    ]
}

/// Uploads.
enum UploadPaths {
    static let all: [String: JSONValue] = [
        "/v1/uploads": [
            "post": Operation.operation(
                "upload", tag: "uploads", "Send a file, to be named as a source",
                description: """
                    The body is the file, at most \(Limits.sourceBytesMax) bytes, of whatever type; forms are not \
                    taken. The answer's "source" is the source of a request within a day.
                    """,
                body: [
                    "required": true,
                    "content": [
                        "application/octet-stream": [
                            "schema": ["type": "string", "format": "binary", "minLength": 1]
                        ]
                    ],
                ],
                answers: [
                    "201": Operation.answer("Kept", schema: "Upload")
                ], problems: [406, 413, 415, 422, 507])
        ]
    ]
}

/// Media.
enum MediaPaths {
    static let all: [String: JSONValue] = [
        "/media/{id}/{file}": [
            "get": Operation.operation(
                "fetchMedia", tag: "media", "Fetch a file of a result",
                description: """
                    Needs no token: the id has 128 random bits. What it answers never changes. Files of a service that \
                    publishes to a bucket are there alone: their manifest's url leads to them.
                    """,
                parameters: [
                    Operation.path(
                        "id", "As in the manifest's url", schema: ["type": "string", "pattern": "^[0-9a-f]{32}$"]),
                    Operation.path(
                        "file", "As in the manifest's file",
                        schema: ["type": "string", "pattern": "^[a-z0-9]+[.][a-z0-9]+$", "maxLength": 100]),
                    Operation.header("Range", "One range of bytes", schema: ["type": "string"]),
                    Operation.header("If-Range", "The ETag that the range is meant of", schema: ["type": "string"]),
                    Operation.header("If-None-Match", "ETags that are known", schema: ["type": "string"]),
                ],
                answers: ["200": content("All of it"), "206": part, "304": known], problems: [404, 416], isOpen: true)
        ]
    ]

    private static func content(_ description: String) -> JSONValue {
        // The last one is never sent: clients whose generator knows no type of media read it as bytes.
        let names = Set(AttachmentType.allCases.map(\.mimeType)).union(["application/octet-stream"])
        let types = names.map { ($0, JSONValue.object(["schema": binary])) }
        return [
            "description": .text(description), "headers": .object(headers),
            "content": .object(Dictionary(uniqueKeysWithValues: types)),
        ]
    }

    private static let binary: JSONValue = ["type": "string", "format": "binary"]

    private static var part: JSONValue {
        var part = content("The part that was asked for")
        part["headers"] = part["headers"].merging(["Content-Range": HeaderDescriptions.reference("Content-Range")])
        return part
    }

    private static let known: JSONValue = [
        "description": "The caller has it already", "headers": .object(HeaderDescriptions.usual),
    ]

    private static let headers: [String: JSONValue] = HeaderDescriptions.usual.merging(
        ["ETag", "Accept-Ranges", "Cache-Control", "Content-Disposition"].map {
            ($0, HeaderDescriptions.reference($0))
        }
    ) { $1 }
}
