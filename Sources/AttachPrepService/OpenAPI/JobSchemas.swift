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
        "PurgeOrder": [
            "type": "object", "additionalProperties": false,
            "anyOf": [
                ["required": ["states"], "properties": ["states": ["type": "array"]]],
                ["required": ["ids"], "properties": ["ids": ["type": "array"]]],
                ["required": ["search"], "properties": ["search": ["type": "string"]]],
                ["required": ["createdBefore"], "properties": ["createdBefore": ["type": "string"]]],
            ],
            "properties": [
                "states": ["type": ["array", "null"], "items": ["enum": finished]],
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
            ],
        ],
        "Purged": Schema.object(["purged": ["type": "integer", "minimum": 0]]),
    ]

    private static let finished = JSONValue.list(
        JobState.allCases.filter(\.isFinished).map { .text($0.rawValue) })
}
