/// The headers of answers.
enum HeaderDescriptions {
    /// What each answer has.
    static let usual: [String: JSONValue] = ["X-Request-Id": reference("X-Request-Id")]

    static func reference(_ name: String) -> JSONValue { ["$ref": "#/components/headers/\(name)"] }

    static let all: [String: JSONValue] = [
        "X-Request-Id": text("Names the request, in the service's log as well"),
        "Location": text("Where the job is shown"),
        "Preference-Applied": text("The seconds that were waited at most"),
        "Idempotency-Replayed": text("true when an earlier call with the same key made the jobs"),
        "Set-Cookie": text("The session, or an empty one: HttpOnly, SameSite=Strict"),
        "Retry-After": ["description": "Seconds", "schema": ["type": "integer", "minimum": 1]],
        "WWW-Authenticate": text("Bearer"),
        "Content-Range": text("Which bytes of how many"),
        "ETag": text("The content's SHA-256 in quotes"),
        "Accept-Ranges": text("bytes"),
        "Cache-Control": text("How long it may be kept"),
        "Content-Disposition": text("inline, with a file name whose extension fits the type"),
    ]

    private static func text(_ description: String) -> JSONValue {
        ["description": .text(description), "schema": ["type": "string"]]
    }
}
