import AttachPrepJobs
import RichPush

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
