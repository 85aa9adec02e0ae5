/// The errors, by status.
enum ProblemResponses {
    private static let statuses: [(status: Int, name: String, meaning: String)] = [
        (400, "Invalid", "The request is not valid"),
        (401, "Unauthorized", "No valid token"),
        (
            403, "Forbidden",
            "A service without tokens is used from elsewhere than this machine, or a web page of another site asks"
        ),
        (404, "NotFound", "There is no such thing"),
        (406, "NotAcceptable", "Accept does not allow the answer's type"),
        (409, "Conflict", "The request does not fit the present state"),
        (413, "TooLarge", "The body is too large"),
        (415, "UnsupportedType", "The body's type is not taken here"),
        (416, "OutOfRange", "The range has no byte of the file"),
        (422, "NotPossible", "The request can be read, but what it asks for is not possible"),
        (429, "TooMany", "Too many requests; Retry-After says when to come back"),
        (431, "HeaderTooLarge", "The request's header is too large"),
        (500, "Failed", "The service failed"),
        (503, "Unavailable", "Not now; Retry-After says when to come back"),
        (507, "NoRoom", "There is no room for files"),
    ]

    static func reference(_ status: Int) -> JSONValue {
        let name = statuses.first { $0.status == status }?.name ?? "Failed"
        return ["$ref": "#/components/responses/\(name)"]
    }

    /// The meaning of a response that is referred to.
    static func title(of reference: String) -> String {
        statuses.first { reference.hasSuffix("/\($0.name)") }?.meaning ?? "An error"
    }

    static var all: [String: JSONValue] {
        statuses.reduce(into: [:]) { all, row in
            var headers = HeaderDescriptions.usual
            if [429, 503, 507].contains(row.status) {
                headers["Retry-After"] = HeaderDescriptions.reference("Retry-After")
            }
            if row.status == 401 { headers["WWW-Authenticate"] = HeaderDescriptions.reference("WWW-Authenticate") }
            if row.status == 416 { headers["Content-Range"] = HeaderDescriptions.reference("Content-Range") }
            all[row.name] = [
                "description": .text(row.meaning), "headers": .object(headers),
                "content": ["application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]],
            ]
        }
    }
}
