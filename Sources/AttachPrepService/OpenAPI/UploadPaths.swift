import RichPush

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
