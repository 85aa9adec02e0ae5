import RichPush

/// How a browser becomes a caller.
enum SessionPaths {
    static let all: [String: JSONValue] = [
        "/v1/session": [
            "get": Operation.operation(
                "showSession", tag: "service", "Whether a token is asked for, and whether the caller is known",
                description: "Nobody has to show a token; who shows a wrong one is told so.",
                answers: ["200": Operation.answer("Both", schema: "Session")], problems: [401, 406, 429], isOpen: true),
            "post": Operation.operation(
                "beginSession", tag: "service", "Show a token, and be known by a cookie",
                description: """
                    The cookie is for browsers, is not shown to scripts, holds no token, and is good for \
                    \(Limits.sessionSecondsMax / 3600) hours, unless the token is taken back before. It stands for the \
                    token wherever Authorization shows none. What changes something is then taken from the service's \
                    own page alone (Sec-Fetch-Site: same-origin, or else Origin).
                    """,
                body: Operation.body(schema: "SessionOrder", example: ["token": "one-of-the-service's-tokens"]),
                answers: [
                    "200": Operation.answer("The caller is known", schema: "Session", headers: cookie)
                ], problems: [401, 406, 413, 415, 429], isOpen: true),
            "delete": Operation.operation(
                "endSession", tag: "service", "Have the browser forget it",
                answers: ["200": Operation.answer("It is asked to", schema: "Session", headers: cookie)],
                problems: [406], isOpen: true),
        ]
    ]

    private static let cookie = ["Set-Cookie": HeaderDescriptions.reference("Set-Cookie")]
}
