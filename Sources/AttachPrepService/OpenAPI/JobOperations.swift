import AttachPrepJobs
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

/// Jobs that are there.
enum JobPaths {
    static let all: [String: JSONValue] = [
        "/v1/jobs": [
            "get": Operation.operation(
                "listJobs", tag: "jobs", "List jobs, the latest first",
                parameters: [
                    Operation.query(
                        "state", "Only jobs in these states; repeated, or with commas between",
                        schema: [
                            "type": "array", "minItems": 1,
                            "items": ["$ref": "#/components/schemas/JobState"],
                        ]),
                    Operation.query(
                        "error", "Only failed and dead jobs with these codes; repeated, or with commas between",
                        schema: [
                            "type": "array", "minItems": 1,
                            "items": ["$ref": "#/components/schemas/ErrorCode"],
                        ]),
                    limit,
                    Operation.query("cursor", "The \"next\" of the page before", schema: id),
                    Operation.query(
                        "search", "A part of the job's id, the caller's id, the source or the error's code",
                        schema: [
                            "type": "string", "maxLength": .whole(Limits.searchCharactersMax),
                            "pattern": "^[^\\x00]*$",
                        ]),
                ],
                answers: ["200": Operation.answer("A page", schema: "JobPage")], problems: [406])
        ],
        "/v1/jobs/{id}": [
            "get": Operation.operation(
                "showJob", tag: "jobs", "Show a job",
                parameters: [
                    name,
                    Operation.header(
                        "Prefer",
                        """
                        RFC 7240: wait=N waits at most N seconds (up to \(Int(Limits.preferredWaitSecondsMax))) for \
                        its end
                        """, schema: SubmissionPaths.preference),
                ],
                answers: [
                    "200": Operation.answer(
                        "The job", schema: "Job",
                        headers: ["Preference-Applied": HeaderDescriptions.reference("Preference-Applied")])
                ], problems: [404, 406]),
            "delete": Operation.operation(
                "cancelJob", tag: "jobs", "Cancel a job",
                description: "A queued job ends at once, a running one as soon as its worker hears of it.",
                parameters: [name],
                answers: ["202": Operation.answer("The job", schema: "Job")], problems: [404, 406, 409]),
        ],
        "/v1/jobs/{id}/retry": [
            "post": Operation.operation(
                "retryJob", tag: "jobs", "Run a job again that failed, is dead or was cancelled", parameters: [name],
                answers: [
                    "202": Operation.answer(
                        "The job", schema: "Job", headers: ["Location": HeaderDescriptions.reference("Location")])
                ], problems: [404, 406, 409])
        ],
        "/v1/jobs/{id}/log": [
            "get": Operation.operation(
                "showJobLog", tag: "jobs", "Show what was logged while a job was worked on", parameters: [name],
                answers: ["200": Operation.answer("The lines, in their order", schema: "JobLog")],
                problems: [404, 406])
        ],
        "/v1/jobs/retry": [
            "post": Operation.operation(
                "retryJobs", tag: "jobs", "Run jobs again that failed, are dead or were cancelled",
                description: """
                    At least one member has to be there; a job has to agree with all that are. The earliest of a state \
                    come first, and as many as the queue takes. Those whose secrets were wiped when they were called \
                    off are passed over.
                    """,
                body: Operation.body(
                    schema: "RetryOrder", example: ["states": ["dead"], "error": "download.timeout"]),
                answers: ["200": Operation.answer("How many there were", schema: "Retried")],
                problems: [406, 413, 415])
        ],
        "/v1/jobs/purge": [
            "post": Operation.operation(
                "purgeJobs", tag: "jobs", "Remove finished jobs for good",
                description: "At least one member has to be there; a job has to agree with all that are.",
                body: Operation.body(
                    schema: "PurgeOrder",
                    example: ["states": ["dead"], "createdBefore": "2026-11-14T00:00:00Z"]),
                answers: ["200": Operation.answer("How many there were", schema: "Purged")],
                problems: [406, 413, 415])
        ],
    ]

    static let id: JSONValue = [
        "type": "string", "format": "uuid",
        "pattern": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    ]

    static let limit = Operation.query(
        "limit", "How many on a page",
        schema: [
            "type": "integer", "minimum": 1, "maximum": .whole(Limits.pageCountMax),
            "default": .whole(Limits.pageCount),
        ])

    private static let name = Operation.path("id", "The job's id", schema: id)
}

enum JobSchemas {
    static let all: [String: JSONValue] = [
        "JobState": ["type": "string", "enum": Schema.words(JobState.self)],
        "Job": Schema.object([
            "id": Schema.text("A UUID of version 7", format: "uuid"),
            "state": ["$ref": "#/components/schemas/JobState"],
            "request": ["$ref": "#/components/schemas/ShownRequest"],
            "result": Schema.orNull("Manifest"),
            "error": Schema.orNull("ManifestError"),
            "attempts": ["type": "integer", "minimum": 0],
            "createdAt": Schema.time,
            "startedAt": Schema.timeOrNull,
            "finishedAt": Schema.timeOrNull,
        ]),
        "Jobs": Schema.object([
            "batch": [
                "type": ["string", "null"], "format": "uuid", "description": "Names them together, in webhooks as well",
            ],
            "jobs": Schema.list("Job"),
        ]),
        "JobChange": Schema.object([
            "id": Schema.text("The job's", format: "uuid"), "state": ["$ref": "#/components/schemas/JobState"],
        ]),
        "JobPage": Schema.object([
            "jobs": Schema.list("Job"),
            "next": ["type": ["string", "null"], "description": "The cursor of the next page; null on the last one"],
        ]),
        "JobLog": Schema.object([
            "lines": [
                "type": "array",
                "items": Schema.object([
                    "date": Schema.time, "level": ["type": "string"], "text": ["type": "string"],
                ]),
            ]
        ]),
        "PurgeOrder": choice(\.isFinished),
        "RetryOrder": choice(\.isRetryable),
        "Retried": Schema.object(["retried": ["type": "integer", "minimum": 0]]),
        "Purged": Schema.object(["purged": ["type": "integer", "minimum": 0]]),
    ]

    /// Which jobs are meant: by at least one of these members.
    private static func choice(_ isPossible: (JobState) -> Bool) -> JSONValue {
        let code: JSONValue = ["$ref": "#/components/schemas/ErrorCode"]
        let states = JobState.allCases.filter(isPossible).map { JSONValue.text($0.rawValue) }
        return [
            "type": "object", "additionalProperties": false, "description": "At least one member that is not null",
            "not": Schema.notEmpty(["states", "ids", "search", "createdBefore", "error"]),
            "properties": [
                "states": ["type": ["array", "null"], "items": ["type": "string", "enum": .list(states)]],
                "ids": [
                    "type": ["array", "null"], "description": "At most \(Limits.batchRequestsMax)",
                    "items": JobPaths.id,
                ],
                "search": [
                    "type": ["string", "null"], "minLength": 1, "maxLength": .whole(Limits.searchCharactersMax),
                    "pattern": "^[^\\x00]+$",
                    "description": "A part of the job's id, the caller's id, the source or the error's code",
                ],
                "createdBefore": ["type": ["string", "null"], "format": "date-time"],
                "error": [
                    "description": "Failed and dead jobs alone, with this code or with one of these",
                    "anyOf": [code, ["type": "array", "items": code], ["type": "null"]],
                ],
            ],
        ]
    }
}

/// Events.
enum EventPaths {
    /// Events one after the other: JSON Schema's way to say what is in a text.
    private static let stream: JSONValue = [
        "type": "string", "contentMediaType": "text/event-stream",
        "contentSchema": ["type": "array", "items": ["$ref": "#/components/schemas/ServerEvent"]],
    ]

    /// An event, and what its data is once it is read as JSON.
    static let schemas: [String: JSONValue] = [
        "ServerEvent": [
            "oneOf": [
                ["$ref": "#/components/schemas/JobEvent"], ["$ref": "#/components/schemas/CountsEvent"],
            ]
        ],
        "JobEvent": event("job", data: "JobChange"),
        "CountsEvent": event("counts", data: "JobNumbers"),
    ]

    private static func event(_ name: String, data: String) -> JSONValue {
        Schema.growing([
            "event": ["const": .text(name)], "data": ["$ref": .text("#/components/schemas/\(data)")],
        ])
    }

    static let all: [String: JSONValue] = [
        "/v1/events": [
            "get": Operation.operation(
                "listen", tag: "jobs", "Hear of each change of a job's state, and of their numbers",
                description: """
                    Server-sent events: `event: job`, `data: {"id", "state"}`, and at the beginning and at most \
                    once a second, when they have changed, `event: counts`, `data: {"jobs": {state: number}, "due", \
                    "oldestDueSeconds"}`. A comment comes every \
                    \(Int(Limits.eventHeartbeatSeconds)) s. Who does not keep up loses the oldest of \
                    \(Limits.eventBacklogMax) events; what has to be known for certain is asked for. There are at most \
                    \(Limits.eventListenersMax) listeners; one more is answered 503 with the code events.full.
                    """,
                answers: [
                    "200": [
                        "description": "Events until one side ends", "headers": .object(HeaderDescriptions.usual),
                        "content": ["text/event-stream": ["schema": stream]],
                    ]
                ], problems: [406])
        ]
    ]
}
