import RichPush

/// Events.
enum EventPaths {
    static let all: [String: JSONValue] = [
        "/v1/events": [
            "get": Operation.operation(
                "listen", tag: "jobs", "Hear of each change of a job's state, as it happens",
                description: """
                    Server-sent events: `event: job`, `data: {"id", "state"}`. A comment comes every \
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
