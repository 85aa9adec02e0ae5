/// The service at a glance.
enum OverviewPaths {
    static let all: [String: JSONValue] = [
        "/v1/overview": [
            "get": Operation.operation(
                "showOverview", tag: "service", "The service and its jobs at a glance",
                description: """
                    What the head of the dashboard shows. Jobs and their hour are at most two seconds old, and the \
                    same for everybody who asks meanwhile.
                    """,
                answers: ["200": Operation.answer("As it is", schema: "Overview")], problems: [406])
        ]
    ]
}
