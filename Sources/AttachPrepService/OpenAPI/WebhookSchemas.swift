import AttachPrepJobs
import RichPush

enum WebhookSchemas {
    static let id: JSONValue = ["type": "string", "pattern": "^msg_[0-9a-f]{32}$"]

    static let all: [String: JSONValue] = [
        "WebhookState": ["type": "string", "enum": Schema.words(WebhookState.self)],
        "Webhook": Schema.object([
            "id": id, "job": JobPaths.id,
            "type": ["type": "string", "enum": Schema.words(WebhookNotice.Event.self)],
            "url": Schema.text("Without what is secret in it"),
            "state": ["$ref": "#/components/schemas/WebhookState"],
            "attempts": ["type": "integer", "minimum": 0],
            "createdAt": Schema.time, "nextAt": Schema.timeOrNull, "endedAt": Schema.timeOrNull,
            "lastStatus": ["type": ["integer", "null"]], "lastError": ["type": ["string", "null"]],
        ]),
        "WebhookPage": Schema.object([
            "webhooks": Schema.list("Webhook"),
            "next": ["type": ["string", "null"], "description": "The cursor of the next page; null on the last one"],
        ]),
        "ReplayOrder": [
            "type": "object", "additionalProperties": false, "description": "At least one member that is not null",
            "not": Schema.notEmpty(["states", "ids"]),
            "properties": [
                "states": ["type": ["array", "null"], "items": ["$ref": "#/components/schemas/WebhookState"]],
                "ids": ["type": ["array", "null"], "description": "At most \(Limits.batchRequestsMax)", "items": id],
            ],
        ],
        "WebhookEvent": Schema.growing([
            "type": ["type": "string", "enum": Schema.words(WebhookNotice.Event.self)], "timestamp": Schema.time,
            "data": ["$ref": "#/components/schemas/Manifest"], "job": ["$ref": "#/components/schemas/WebhookJob"],
        ]),
        "WebhookJob": Schema.growing([
            "id": Schema.text("The job's, as the submission's answer has it", format: "uuid"),
            "state": ["$ref": "#/components/schemas/JobState"], "attempts": ["type": "integer", "minimum": 0],
            "batch": [
                "type": ["string", "null"], "format": "uuid", "description": "The batch that it came in; null without",
            ],
            "idempotencyKey": [
                "type": ["string", "null"], "description": "The submission's Idempotency-Key; null without",
            ],
            "createdAt": Schema.time,
        ]),
        "Replayed": Schema.object(["replayed": ["type": "integer", "minimum": 0]]),
    ]
}
