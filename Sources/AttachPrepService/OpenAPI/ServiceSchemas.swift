import RichPush

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
