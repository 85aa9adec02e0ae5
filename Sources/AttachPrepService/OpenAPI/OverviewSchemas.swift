import AttachPrepJobs

enum OverviewSchemas {
    static let all: [String: JSONValue] = [
        "Overview": Schema.object([
            "version": ["type": "string"],
            "startedAt": Schema.time,
            "takesUploads": ["type": "boolean"],
            "jobs": numbers(JobState.self, "Jobs there are, by state"),
            "errors": [
                "type": "array", "description": "Codes of failed and dead jobs, the most frequent first",
                "items": Schema.object(["code": ["$ref": "#/components/schemas/ErrorCode"], "jobs": Schema.side]),
            ],
            "due": whole("Queued jobs that could run now"),
            "oldestDueSeconds": Schema.numberOrNull,
            "webhooks": numbers(WebhookState.self, "Webhooks there are, by state"),
            "mediaBytes": whole("Decimal bytes of the files of results and uploads that are kept here"),
            "hour": ["$ref": "#/components/schemas/JobPace"],
            "children": children,
            "queue": Schema.object([
                "kind": ["enum": ["sqlite", "jetstream"]],
                "name": Schema.text("The data folder, or the servers"),
                "healthy": ["type": "boolean"], "reason": Schema.textOrNull,
            ]),
            "publish": Schema.object([
                "target": Schema.text("file, or s3://bucket/prefix"),
                "healthy": ["type": ["boolean", "null"], "description": "Null until the first look has ended"],
                "reason": Schema.textOrNull,
            ]),
            "ready": ["type": "boolean"], "reasons": ["type": "array", "items": ["type": "string"]],
        ]),
        "JobNumbers": Schema.object([
            "jobs": numbers(JobState.self, "Jobs there are, by state"),
            "due": whole("Queued jobs that could run now"), "oldestDueSeconds": Schema.numberOrNull,
        ]),
        "JobPace": Schema.object(
            latencies.merging([
                "until": Schema.time,
                "minutes": [
                    "type": "array", "minItems": .whole(JobPace.minutesCount), "maxItems": .whole(JobPace.minutesCount),
                    "description": "The hour before, the earliest minute first",
                    "items": Schema.object(
                        latencies.merging([
                            "succeeded": whole("Jobs that ended with an attachment"),
                            "failed": whole("Jobs that failed, or are dead"),
                        ]) { $1 }),
                ],
            ]) { $1 }),
    ]

    /// Percentiles are worked out from a few spans, within some percent.
    private static let latencies: [String: JSONValue] = [
        "medianSeconds": Schema.numberOrNull, "p95Seconds": Schema.numberOrNull,
    ]

    private static var children: JSONValue {
        var schema = Schema.object([
            "slots": Schema.side, "failed": whole("Replaced because they ended with a file"),
            "recycled": whole("Replaced in good order"),
        ])
        schema["type"] = ["object", "null"]
        schema["description"] = "Media children; null where jobs are taken in alone"
        return schema
    }

    private static func whole(_ description: String) -> JSONValue {
        ["type": "integer", "minimum": 0, "description": .text(description)]
    }

    private static func numbers<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type, _ description: String
    ) -> JSONValue where Word.RawValue == String {
        let members = Word.allCases.map { ($0.rawValue, JSONValue.object(["type": "integer", "minimum": 0])) }
        var schema = Schema.object(Dictionary(uniqueKeysWithValues: members))
        schema["description"] = .text(description)
        return schema
    }
}
