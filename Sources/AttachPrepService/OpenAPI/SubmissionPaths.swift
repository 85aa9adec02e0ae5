import RichPush

/// `POST /v1/jobs`.
enum SubmissionPaths {
    static let all: [String: JSONValue] = [
        "/v1/jobs": [
            "post": Operation.operation(
                "submitJobs", tag: "jobs", "Take in a request, or many",
                description: """
                    One request as application/json, or up to \(Limits.batchRequestsMax) as JSON Lines: then all of \
                    them are taken, or none; the problem's "errors" name the bad lines, its code is the first \
                    one's. A job is kept when the answer is there.
                    """,
                parameters: [
                    Operation.header(
                        "Idempotency-Key",
                        "The same key and body give the same jobs for a day; another body is refused with 409",
                        schema: ["type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$", "maxLength": 255]),
                    Operation.header(
                        "Prefer",
                        """
                        RFC 7240: wait=N waits at most N seconds (up to \(Int(Limits.preferredWaitSecondsMax))) for \
                        the manifest of a single request; what is not understood is passed over
                        """, schema: preference),
                ],
                body: body,
                answers: [
                    "200": Operation.answer(
                        "The job ended while the caller waited: its manifest, a rejected one as well",
                        schema: "Manifest",
                        headers: headers),
                    "202": accepted,
                ], problems: [406, 409, 413, 415, 422], callbacks: WebhookDescription.callbacks("/callbackURL"))
        ]
    ]

    private static let body: JSONValue = [
        "required": true,
        "content": [
            "application/json": [
                "schema": ["$ref": "#/components/schemas/AttachmentRequest"],
                "examples": [
                    "short": ["value": ["source": "https://cdn.example.org/cat.webp"]],
                    "long": ["value": RequestSchemas.example],
                ],
            ],
            "application/x-ndjson": ["schema": lines],
            "application/jsonl": ["schema": lines],
        ],
    ]

    /// Bytes, as clients send them; what stands in them is another schema's matter.
    private static let lines: JSONValue = [
        "type": "string", "format": "binary", "contentMediaType": "application/x-ndjson",
        "contentSchema": ["$ref": "#/components/schemas/AttachmentRequestLines"],
    ]

    static let preference: JSONValue = ["type": "string", "examples": ["wait=1", "wait=\"1\""]]

    private static let accepted: JSONValue = [
        "description": "Taken in: the job, or the jobs in the order of the lines",
        "headers": .object(HeaderDescriptions.usual.merging(headers) { $1 }),
        "content": [
            "application/json": [
                "schema": ["oneOf": [["$ref": "#/components/schemas/Job"], ["$ref": "#/components/schemas/Jobs"]]]
            ]
        ],
    ]

    private static let headers: [String: JSONValue] = [
        "Location": HeaderDescriptions.reference("Location"),
        "Preference-Applied": HeaderDescriptions.reference("Preference-Applied"),
        "Idempotency-Replayed": HeaderDescriptions.reference("Idempotency-Replayed"),
    ]
}
