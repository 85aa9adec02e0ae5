import AttachPrepJobs
import RichPush

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
