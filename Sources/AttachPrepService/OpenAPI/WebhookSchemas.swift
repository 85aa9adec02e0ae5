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
            "type": "object", "additionalProperties": false,
            "anyOf": [
                ["required": ["states"], "properties": ["states": ["type": "array"]]],
                ["required": ["ids"], "properties": ["ids": ["type": "array"]]],
            ],
            "properties": [
                "states": ["type": ["array", "null"], "items": ["$ref": "#/components/schemas/WebhookState"]],
                "ids": ["type": ["array", "null"], "description": "At most \(Limits.batchRequestsMax)", "items": id],
            ],
        ],
        "Replayed": Schema.object(["replayed": ["type": "integer", "minimum": 0]]),
    ]
}
