import RichPush

/// Events.
enum EventPaths {
    static let all: [String: JSONValue] = [
        "/v1/events": [
            "get": Operation.operation(
                "listen", tag: "jobs", "Hear of each change of a job's state, and of their numbers",
                description: """
                    Server-sent events: `event: job`, `data: {"id", "state"}`, and at the beginning and at most \
                    once a second, when they have changed, `event: counts`, `data: {"jobs": {state: number}, "due", \
                    "oldestDueSeconds"}`. A comment comes every \
                    \(Int(Limits.eventHeartbeatSeconds)) s. Who does not keep up loses the oldest of \
                    \(Limits.eventBacklogMax) events; what has to be known for certain is asked for.
                    """,
                answers: [
                    "200": [
                        "description": "Events until one side ends", "headers": .object(HeaderDescriptions.usual),
                        "content": ["text/event-stream": ["schema": ["type": "string"]]],
                    ]
                ], problems: [406])
        ]
    ]
}
