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
