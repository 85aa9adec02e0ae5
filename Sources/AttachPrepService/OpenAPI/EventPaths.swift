import RichPush

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
