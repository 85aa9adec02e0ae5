import AttachPrep
import MediaEngine
import RichPush

enum RequestSchemas {
    static let all: [String: JSONValue] = [
        "AttachmentRequest": [
            "type": "object", "additionalProperties": false, "required": ["source"], "properties": request,
            "description": "Unknown members are refused; null is as good as leaving a member out.",
        ],
        "AttachmentRequestLines": [
            "type": "array", "minItems": 1,
            "description": "JSON Lines: one AttachmentRequest a line; empty lines are passed over",
            "items": ["$ref": "#/components/schemas/AttachmentRequest"],
            "examples": [
                [["source": "https://cdn.example.org/1.webp"], ["source": "https://cdn.example.org/2.mp4"]]
            ],
        ],
        "ShownRequest": [
            "type": "object", "required": ["source"],
            "description": "An AttachmentRequest as it may be shown: without headers, its addresses redacted.",
            "properties": [
                "source": ["type": "string"],
                "id": ["type": "string", "description": "The caller's id; absent when the caller gave none"],
                "headers": ["type": "object", "maxProperties": 0],
            ],
        ],
        "Options": [
            "type": "object", "additionalProperties": false, "properties": RequestOptionSchemas.members,
        ],
    ]

    static let example: JSONValue = [
        "source": "https://cdn.example.org/cat.mp4", "id": "push-4711", "rendition": "display", "network": "lte",
        "deviceBudget": 10, "budget": 20, "priority": "high", "headers": ["Authorization": "Bearer of-the-origin"],
        "callbackURL": "https://hooks.example.org/push",
        "options": ["thumbnailTime": 1.5, "thumbnailSize": ["width": 600, "height": 600], "crop": "smart:16:9"],
    ]

    /// What is asked of media that something else names.
    static let withoutSource: JSONValue = {
        guard case .object(var members) = request else { return request }
        members["source"] = nil
        return .object(members)
    }()

    private static let request: JSONValue = [
        "source": [
            "type": "string", "minLength": 1, "maxLength": .whole(Limits.urlBytesMax),
            "pattern": "^(https?://[^\\s/?#]\\S*|upload:[0-9a-f]{32})$",
            "description": "An http or https URL, or what an upload was answered with",
        ],
        "id": [
            "type": ["string", "null"], "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
            "description": "The caller's name for the result; else one is derived from the request",
        ],
        "options": Schema.orNull("Options"),
        "rendition": Schema.choice(RequestedRendition.self, "How much of the source is kept"),
        "oversize": Schema.choice(AttachmentRequest.Oversize.self, "What to do with a file over its limit"),
        "unsupported": Schema.choice(AttachmentRequest.Unsupported.self, "What to do with what iOS does not attach"),
        "budget": seconds("The seconds that work on it may take", Limits.budgetSeconds),
        "maxBytes": [
            "type": ["integer", "null"], "minimum": 1, "maximum": .whole(.max),
            "description": "A limit below Apple's, in decimal bytes",
        ],
        "network": network,
        "deviceBudget": seconds("The seconds that a phone on that network has to fetch it", nil),
        "headers": [
            "type": ["object", "null"], "propertyNames": headerName,
            "description": "Sent to the first origin alone, never shown; not those that belong to the transfer",
            "additionalProperties": ["type": "string", "pattern": "^[^\\x00-\\x08\\x0A-\\x1F\\x7F]*$"],
        ],
        "callbackURL": [
            "type": ["string", "null"], "maxLength": .whole(Limits.urlBytesMax),
            "pattern": .text(CallbackURLPattern.text),
            "description": """
            Told by a webhook (Standard Webhooks) when the job ends, as in "webhooks"; the service needs a secret for it
            """,
        ],
        "priority": Schema.choice(JobPriority.self, "The lane"),
        "notBefore": [
            "type": ["string", "null"], "format": "date-time", "description": "Not begun before",
        ],
        "notAfter": [
            "type": ["string", "null"], "format": "date-time",
            "description": "Neither begun nor tried again after; later than notBefore", "x-later-than": "notBefore",
        ],
    ]

    private static func seconds(_ description: String, _ usual: Double?) -> JSONValue {
        var schema: JSONValue = [
            "type": ["number", "null"], "exclusiveMinimum": 0, "maximum": .number(Limits.budgetSecondsMax),
            "description": .text(description),
        ]
        if let usual { schema["default"] = .number(usual) }
        return schema
    }

    /// A token (RFC 9110, 5.6.2) that is none of those that the service sets itself, in whatever case.
    private static let headerName: JSONValue = [
        "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
        "not": ["pattern": .text("^(\(RequestHeaders.reserved.sorted().map(anyCase).joined(separator: "|")))$")],
    ]

    /// `[Hh][Oo]…`: patterns have no flag for it.
    private static func anyCase(_ word: String) -> String {
        word.map { $0.isLetter ? "[\($0.uppercased())\($0)]" : "\($0)" }.joined()
    }

    private static let network: JSONValue = [
        "description": "The network that the phone is expected on, or kilobits a second",
        "anyOf": [
            ["enum": ["3g", "lte", "wifi", nil]],
            ["type": "integer", "minimum": 10, "maximum": 10_000_000],
            ["type": "string", "pattern": "^[1-9][0-9]{1,6}$"],
        ],
    ]
}

/// An http or https URI with a name, an IPv4 or an IPv6 address, as the service takes it for `callbackURL`.
enum CallbackURLPattern {
    static let text = "^[Hh][Tt][Tt][Pp][Ss]?://(\(user)@)?(\(name)|\\[(\(address))\\])(:(\(port)))?([/?#][!-~]*)?$"

    private static let user = "[A-Za-z0-9._~-]+(:[A-Za-z0-9._~-]*)?"
    /// Names, and IPv4 addresses with them.
    private static let name = "[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"
    /// 1 to 65,535.
    private static let port =
        "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
    private static let group = "[0-9A-Fa-f]{1,4}"
    private static let byte = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"

    /// RFC 3986, 3.2.2: `::` stands for the groups that are left out.
    private static let address: String = {
        let shortened = (1...6).map { "(\(group):){1,\($0)}(:\(group)){1,\(7 - $0)}" }
        let others = [
            "(\(group):){7}\(group)", "(\(group):){1,7}:", ":(:\(group)){1,7}", "::",
            "::([Ff]{4}:)?\(byte)([.]\(byte)){3}",
        ]
        return (others + shortened).joined(separator: "|")
    }()
}

/// The members of a request's options.
enum RequestOptionSchemas {
    static let members: JSONValue = [
        "crop": [
            "description": "The part of the upright picture to show",
            "anyOf": [
                ["type": "null"],
                [
                    "type": "string", "pattern": "^smart(:[1-9][0-9]{0,3}:[1-9][0-9]{0,3})?$",
                    "description": "smart, or smart:16:9",
                ],
                crop,
            ],
        ],
        "thumbnailTime": [
            "description": "Seconds of a movie, or an animation's frame from 0, or auto",
            "anyOf": [["type": "number", "minimum": 0], ["enum": ["auto", nil]]],
        ],
        "thumbnailHidden": ["type": ["boolean", "null"]],
        "thumbnailSize": [
            "type": ["object", "null"], "required": ["width", "height"],
            "properties": ["width": side, "height": side], "description": "The box in pixels",
        ],
        "thumbnailFit": Schema.choice(ThumbnailFit.self, "Inside the box, or filling it"),
        "animation": Schema.choice(AnimationTarget.self, "What an animated image becomes"),
        "bakeRotation": ["type": ["boolean", "null"], "description": "Whether a turned movie is encoded upright"],
    ]

    private static let side: JSONValue = [
        "type": "integer", "minimum": 1, "maximum": .whole(Limits.thumbnailSidePixelsMax),
    ]

    /// The sums are looked at as well: `options.invalid_clipping_rect`.
    private static let crop: JSONValue = [
        "type": "object", "required": ["x", "y", "width", "height"],
        "description": "Unit values, origin top left; x + width and y + height are at most 1",
        "properties": [
            "x": ["type": "number", "minimum": 0, "exclusiveMaximum": 1],
            "y": ["type": "number", "minimum": 0, "exclusiveMaximum": 1],
            "width": ["type": "number", "exclusiveMinimum": 0, "maximum": 1],
            "height": ["type": "number", "exclusiveMinimum": 0, "maximum": 1],
        ],
    ]
}

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
