import AttachPrepJobs
import RichPush

/// Webhooks.
enum WebhookPaths {
    static let all: [String: JSONValue] = [
        "/v1/webhooks": [
            "get": Operation.operation(
                "listWebhooks", tag: "webhooks", "List webhooks, the latest first",
                parameters: [
                    Operation.query(
                        "state", "Only webhooks in these states; repeated, or with commas between",
                        schema: [
                            "type": "array", "minItems": 1,
                            "items": ["$ref": "#/components/schemas/WebhookState"],
                        ]),
                    Operation.query("job", "Only those of a job", schema: JobPaths.id),
                    JobPaths.limit,
                    Operation.query("cursor", "The \"next\" of the page before", schema: WebhookSchemas.id),
                ],
                answers: ["200": Operation.answer("A page", schema: "WebhookPage")], problems: [406])
        ],
        "/v1/webhooks/replay": [
            "post": Operation.operation(
                "replayWebhooks", tag: "webhooks", "Send webhooks again, with the same id",
                description: "At least one member has to be there; a webhook has to agree with all that are.",
                body: Operation.body(schema: "ReplayOrder", example: ["states": ["givenUp"]]),
                answers: ["200": Operation.answer("How many there are", schema: "Replayed")],
                problems: [406, 413, 415])
        ],
    ]
}

/// What the service sends: OpenAPI's `webhooks`, and the `callbacks` of the operations that ask for them.
enum WebhookDescription {
    /// By event, as in the body's `type`.
    static let events: [String: JSONValue] = Dictionary(
        uniqueKeysWithValues: WebhookNotice.Event.allCases.map {
            ($0.rawValue, ["post": call(meaning($0))])
        })

    /// - Parameter pointer: where the address stands in the operation's body, as a JSON pointer.
    static func callbacks(_ pointer: String) -> JSONValue {
        .object(["jobEnded": .object(["{$request.body#\(pointer)}": ["post": call("The job has ended")]])])
    }

    private static func meaning(_ event: WebhookNotice.Event) -> String {
        switch event {
        case .attachmentPrepared: "There is an attachment"
        case .attachmentRejected: "There is none, for an error that stays"
        case .jobDead: "There is none, and all tries are used up"
        case .jobCancelled: "The job was cancelled; data is a rejected manifest with the error cancelled"
        }
    }

    private static func call(_ summary: String) -> JSONValue {
        [
            "summary": .text(summary), "tags": ["webhooks"], "security": [],
            "description": """
            Standard Webhooks: the signature covers the id, the timestamp and the body's bytes. An answer that is not \
            2xx has it sent again, with the same webhook-id, up to \(Limits.webhookScheduleSeconds.count) times in \
            all; 410 ends what waits for this address.
            """,
            "parameters": [
                header("webhook-id", "The same for each try", ["type": "string", "pattern": "^msg_[0-9a-f]{32}$"]),
                header("webhook-timestamp", "Seconds since 1970", ["type": "integer"]),
                header("webhook-signature", "v1, and base64; several with spaces between", ["type": "string"]),
            ],
            "requestBody": [
                "required": true,
                "content": ["application/json": ["schema": ["$ref": "#/components/schemas/WebhookEvent"]]],
            ],
            "responses": [
                "2XX": ["description": "It was taken"], "410": ["description": "No more of them are wanted here"],
            ],
        ]
    }

    private static func header(_ name: String, _ description: String, _ schema: JSONValue) -> JSONValue {
        var parameter = Operation.header(name, description, schema: schema)
        parameter["required"] = true
        return parameter
    }
}

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
