import RichPush

enum ManifestSchemas {
    static let all: [String: JSONValue] = [
        "Manifest": Schema.object([
            "schema": ["const": .whole(Manifest.currentSchema)],
            "id": Schema.text("The caller's, else derived from the request"),
            "requestDigest": Schema.text("Changes with what would change the result"),
            "outcome": ["type": "string", "enum": Schema.words(Outcome.self)],
            "reasons": ["type": "array", "items": ["type": "string"], "description": "For people"],
            "source": source,
            "attachment": nullable(attachment),
            "thumbnail": nullable(picture(timed: true)),
            "crop": nullable(picture(timed: false)),
            "options": nullable(options),
            "deviceFetch": [
                "type": ["object", "null"], "additionalProperties": ["type": "number"],
                "description": "Seconds by network",
            ],
            "timings": timings,
            "warnings": [
                "type": "array",
                "items": Schema.object([
                    "code": ["type": "string", "enum": Schema.words(PreparationWarning.Code.self)],
                    "message": ["type": "string"],
                ]),
            ],
            "error": Schema.orNull("ManifestError"),
        ]),
        "ManifestError": Schema.object([
            "code": ["$ref": "#/components/schemas/ErrorCode"], "message": ["type": "string"],
            "retryable": ["type": "boolean"], "appleCode": ["type": ["integer", "null"]],
        ]),
    ]

    private static func nullable(_ schema: JSONValue) -> JSONValue { ["oneOf": [["type": "null"], schema]] }

    private static let source = Schema.object([
        "url": ["type": "string"], "finalURL": Schema.textOrNull, "declaredMIMEType": Schema.textOrNull,
        "mimeType": Schema.textOrNull, "bytes": Schema.wholeOrNull, "sha256": Schema.digestOrNull,
    ])

    private static let attachment = Schema.object([
        "file": ["type": "string"], "url": Schema.textOrNull,
        "kind": ["type": "string", "enum": Schema.words(MediaKind.self)], "uti": ["type": "string"],
        "mimeType": ["type": "string"], "bytes": Schema.side, "sha256": Schema.digest, "width": Schema.wholeOrNull,
        "height": Schema.wholeOrNull, "frames": Schema.wholeOrNull, "duration": Schema.numberOrNull,
    ])

    private static func picture(timed: Bool) -> JSONValue {
        var members: [String: JSONValue] = [
            "file": ["type": "string"], "url": Schema.textOrNull, "mimeType": ["type": "string"],
            "bytes": Schema.side, "sha256": Schema.digest, "width": Schema.side, "height": Schema.side,
        ]
        if timed { members["time"] = Schema.numberOrNull }
        return Schema.object(members)
    }

    private static let options = Schema.object([
        "typeHint": Schema.text("A UTI"), "thumbnailHidden": ["type": ["boolean", "null"]],
        "thumbnailClippingRect": nullable(
            Schema.object([
                "X": ["type": "number"], "Y": ["type": "number"], "Width": ["type": "number"],
                "Height": ["type": "number"],
            ])),
        "thumbnailTime": [
            "oneOf": [
                ["type": "null"], ["type": "integer", "minimum": 0, "description": "A frame"],
                Schema.object([
                    "value": ["type": "integer"], "timescale": ["type": "integer"], "epoch": ["type": "integer"],
                    "flags": ["type": "integer"],
                ]),
            ]
        ],
    ])

    private static let timings = Schema.object(
        Dictionary(
            uniqueKeysWithValues: [
                "queue", "dns", "connect", "tls", "firstByte", "transfer", "identify", "inspect", "render", "publish",
                "total",
            ].map { ($0, ["type": "number", "minimum": 0, "description": "Milliseconds"]) }))
}
