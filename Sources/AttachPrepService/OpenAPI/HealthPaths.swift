/// What machines ask.
enum HealthPaths {
    static let all: [String: JSONValue] = [
        "/healthz": [
            "get": Operation.operation(
                "health", tag: "service", "Whether it is up",
                answers: ["200": Operation.answer("It is", schema: "Health")], problems: [406], isOpen: true)
        ],
        "/readyz": [
            "get": Operation.operation(
                "readiness", tag: "service", "Whether it can take in jobs and work on them",
                answers: [
                    "200": Operation.answer("It can", schema: "Readiness"),
                    "503": Operation.answer("It cannot, for these reasons", schema: "Readiness"),
                ], problems: [406], isOpen: true)
        ],
        "/metrics": [
            "get": metrics
        ],
    ]

    private static var metrics: JSONValue {
        var operation = Operation.operation(
            "metrics", tag: "service", "Figures for Prometheus",
            description: "A service may let callers on its own machine in without a token, unless they are proxies.",
            answers: [
                "200": [
                    "description": "In Prometheus' text format", "headers": .object(HeaderDescriptions.usual),
                    "content": ["text/plain": ["schema": ["type": "string"]]],
                ]
            ])
        operation["security"] = [["bearer": []], ["session": []], [:]]
        return operation
    }
}
