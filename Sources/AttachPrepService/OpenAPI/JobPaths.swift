import AttachPrepJobs
import RichPush

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
