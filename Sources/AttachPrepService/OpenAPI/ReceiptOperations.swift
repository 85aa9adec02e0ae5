import AttachPrepJobs
import RichPush

/// Receipts of devices, and campaigns.
enum ReceiptPaths {
    static let all: [String: JSONValue] = [
        "/v1/receipts": [
            "post": Operation.operation(
                "takeReceipts", tag: "receipts", "Take what a device says of notifications that arrived",
                description: """
                    One receipt, or a list of up to \(Limits.receiptsMax). Each has the token of its payload, and \
                    nobody is asked for another one. Each is counted once, however often it is sent. A list is \
                    always answered with what became of each: nothing in it need be sent again. Unknown members are \
                    passed over.
                    """,
                body: [
                    "required": true,
                    "content": [
                        "application/json": [
                            "schema": [
                                "anyOf": [
                                    ["$ref": "#/components/schemas/Receipt"], ["$ref": "#/components/schemas/Receipts"],
                                ]
                            ],
                            "example": example,
                        ]
                    ],
                ],
                answers: ["200": Operation.answer("What became of them", schema: "ReceiptsTaken")],
                problems: [401, 403, 406, 413, 415, 429], isOpen: true)
        ],
        "/v1/campaigns": [
            "get": Operation.operation(
                "listCampaigns", tag: "receipts", "List campaigns, the one that began last first",
                parameters: [
                    JobPaths.limit,
                    Operation.query(
                        "cursor", "The \"next\" of the page before",
                        schema: ["type": "string", "pattern": "^[0-9]{1,18}$"]),
                ],
                answers: ["200": Operation.answer("A page", schema: "CampaignPage")], problems: [406])
        ],
        "/v1/campaigns/{name}": [
            "get": Operation.operation(
                "showCampaign", tag: "receipts", "Show a campaign",
                parameters: [Operation.path("name", "The campaign's name", schema: ReceiptSchemas.name)],
                answers: ["200": Operation.answer("The campaign", schema: "Campaign")], problems: [404, 406])
        ],
    ]

    private static let example: JSONValue = [
        "token": "AUnJhV3wOMJ2sKzXqPz3Oyb1Ya1bHn0rYQ", "id": "5E0B3C1A-6C0E-4A5F-9D55-0C4E8B2C7F11",
        "outcome": "attached", "attachSeconds": 0.84, "ageSeconds": 2.5,
    ]
}

enum ReceiptSchemas {
    static let name: JSONValue = [
        "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "minLength": 1,
        "maxLength": .whole(Limits.campaignNameCharactersMax),
    ]

    static let all: [String: JSONValue] = [
        "Receipt": [
            "type": "object", "required": ["token", "id", "outcome", "attachSeconds", "ageSeconds"],
            "properties": [
                "token": [
                    "type": "string", "description": "The payload's, as it came",
                    "pattern": "^[A-Za-z0-9_-]{\(ReceiptToken.charactersCount)}$",
                ],
                "id": [
                    "type": "string",
                    "description": "The device's own name for this arrival: said twice, it counts once",
                    "pattern": "^[!-~]{1,\(Limits.receiptNameCharactersMax)}$",
                ],
                "outcome": [
                    "description": "What was shown: an attachment, the thumbnail in its place, or the text alone",
                    "enum": Schema.words(PushReceiptReport.Outcome.self),
                ],
                "attachSeconds": [
                    "type": "number", "minimum": 0, "maximum": .number(Limits.receiptAttachSecondsMax),
                    "description": "From the extension's start until the notification was handed over",
                ],
                "ageSeconds": [
                    "type": "number", "minimum": 0, "maximum": .number(Limits.receiptAgeSecondsMax),
                    "description": "From then until this is sent",
                ],
            ],
        ],
        "Receipts": [
            "type": "array", "minItems": 1, "maxItems": .whole(Limits.receiptsMax),
            "items": [
                "anyOf": [
                    ["$ref": "#/components/schemas/Receipt"],
                    ["description": "What is no receipt is refused by itself, and in the way of no other"],
                ]
            ],
        ],
        "ReceiptsTaken": Schema.object([
            "accepted": count,
            "counted": ["type": "integer", "minimum": 0, "description": "Those that were new, and in time"],
            "refused": [
                "type": "array", "description": "Those that will never be taken, by their places from 1",
                "items": Schema.object([
                    "line": ["type": "integer", "minimum": 1], "detail": ["type": "string"],
                    "code": ["$ref": "#/components/schemas/ErrorCode"],
                ]),
            ],
        ]),
        "SecondsDistribution": Schema.object([
            "count": ["type": "integer", "minimum": 1], "p50": seconds, "p90": seconds, "p95": seconds,
            "p99": seconds, "max": seconds,
        ]),
        "Campaign": Schema.object([
            "name": name, "dispatches": count, "recipients": count, "arrivals": count,
            "arrivalRate": ["type": "number", "minimum": 0, "maximum": 1],
            "outcomes": Schema.object(
                Dictionary(uniqueKeysWithValues: PushReceiptReport.Outcome.allCases.map { ($0.rawValue, count) })),
            "sendToAttachSeconds": Schema.orNull("SecondsDistribution"),
            "attachSeconds": Schema.orNull("SecondsDistribution"),
            "firstSentAt": Schema.time, "lastSentAt": Schema.time,
            "firstArrivalAt": Schema.timeOrNull, "lastArrivalAt": Schema.timeOrNull,
        ]),
        "CampaignPage": Schema.object([
            "campaigns": Schema.list("Campaign"),
            "next": ["type": ["string", "null"], "description": "The cursor of the next page; null on the last one"],
        ]),
    ]

    private static let count: JSONValue = ["type": "integer", "minimum": 0]
    private static let seconds: JSONValue = ["type": "number", "minimum": 0]
}
