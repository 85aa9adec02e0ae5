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
        "Jobs": Schema.object(["jobs": Schema.list("Job")]),
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
        let types = [
            "states": "array", "ids": "array", "search": "string", "createdBefore": "string",
        ]
        let named = types.sorted { $0.key < $1.key }.map { key, type -> JSONValue in
            ["required": [.text(key)], "properties": [key: ["type": .text(type)]]]
        }
        let code: JSONValue = ["$ref": "#/components/schemas/ErrorCode"]
        let coded: JSONValue = ["required": ["error"], "properties": ["error": ["type": ["string", "array"]]]]
        let states = JobState.allCases.filter(isPossible).map { JSONValue.text($0.rawValue) }
        return [
            "type": "object", "additionalProperties": false, "anyOf": .list(named + [coded]),
            "properties": [
                "states": ["type": ["array", "null"], "items": ["enum": .list(states)]],
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
