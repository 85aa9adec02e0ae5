import FoundationEssentials
import NIOCore

/// The service as OpenAPI 3.1 describes it; a test holds it to the routes, and a fuzzer to what they answer.
enum OpenAPIDocument {
    static let value: JSONValue = [
        "openapi": "3.1.0",
        "info": [
            "title": "attachprep", "version": "1", "summary": "Media for notification attachments",
            "description": """
            Takes requests, prepares the media they name, and serves the results. Times are RFC 3339 in UTC, \
            bytes are decimal. Errors are application/problem+json with a stable code.
            """,
        ],
        "tags": [
            ["name": "jobs", "description": "Requests that are worked on"],
            ["name": "payloads", "description": "Notifications whose media is prepared"],
            ["name": "webhooks", "description": "What callers are told when a job ends"],
            ["name": "uploads", "description": "Files as sources"],
            ["name": "receipts", "description": "What devices say of notifications, and what comes of it"],
            ["name": "media", "description": "What phones fetch"],
            ["name": "service", "description": "The service about itself"],
        ],
        "security": [["bearer": []], ["session": []]],
        "paths": .object(paths),
        "webhooks": .object(WebhookDescription.events),
        "components": [
            "securitySchemes": [
                "bearer": [
                    "type": "http", "scheme": "bearer",
                    "description": "One of the service's tokens. A service without tokens asks for none, on loopback.",
                ],
                "session": [
                    "type": "apiKey", "in": "cookie", "name": "attachprep",
                    "description": "A browser's, of POST /v1/session; __Host-attachprep where the base URL is https.",
                ],
            ],
            "schemas": .object(schemas),
            "responses": .object(ProblemResponses.all),
            "headers": .object(HeaderDescriptions.all),
        ],
    ]

    static let bytes: ByteBuffer = {
        guard let data = try? JSONResponse.encoder().encode(value) else {
            preconditionFailure("a value of literals is encodable")
        }
        return ByteBuffer(bytes: data)
    }()

    /// With a HEAD for each GET: it answers the same without a body.
    private static var paths: [String: JSONValue] {
        let groups = [
            SubmissionPaths.all, PayloadPaths.all, JobPaths.all, WebhookPaths.all, UploadPaths.all, EventPaths.all,
            ReceiptPaths.all, MediaPaths.all, HealthPaths.all, PagePaths.all,
            SessionPaths.all, OverviewPaths.all,
        ]
        return groups.reduce(into: [:]) { paths, group in
            for (path, item) in group {
                paths[path] = (paths[path] ?? [:]).merging(item)
                if item["get"] != .null { paths[path]?["head"] = Operation.head(of: item["get"]) }
            }
        }
    }

    private static var schemas: [String: JSONValue] {
        [
            RequestSchemas.all, PayloadSchemas.all, ManifestSchemas.all, JobSchemas.all, WebhookSchemas.all,
            ReceiptSchemas.all, ServiceSchemas.all, OverviewSchemas.all, EventPaths.schemas,
        ]
        .reduce(into: [:]) { $0.merge($1) { $1 } }
    }
}

/// The parts that operations are put together of.
enum Operation {
    /// - Parameters:
    ///   - problems: the statuses of errors beside those that every operation has.
    ///   - isOpen: nobody is asked for a token.
    static func operation(
        _ id: String, tag: String, _ summary: String, description: String? = nil, parameters: [JSONValue] = [],
        body: JSONValue? = nil, answers: [String: JSONValue], problems: [Int] = [], isOpen: Bool = false,
        callbacks: JSONValue? = nil
    ) -> JSONValue {
        var operation: JSONValue = ["operationId": .text(id), "tags": [.text(tag)], "summary": .text(summary)]
        if let description { operation["description"] = .text(description) }
        if !parameters.isEmpty { operation["parameters"] = .list(parameters) }
        if let body { operation["requestBody"] = body }
        if let callbacks { operation["callbacks"] = callbacks }
        if isOpen { operation["security"] = [] }
        let usual = [400, 431, 500, 503] + (isOpen ? [] : [401, 403, 429])
        var responses = answers
        for status in usual + problems where responses["\(status)"] == nil {
            responses["\(status)"] = ProblemResponses.reference(status)
        }
        operation["responses"] = .object(responses)
        return operation
    }

    /// The same question, answered without a body.
    static func head(of get: JSONValue) -> JSONValue {
        guard case .text(let id) = get["operationId"], case .text(let summary) = get["summary"],
            case .object(let responses) = get["responses"]
        else { return .null }
        var head = get
        head["operationId"] = .text("\(id)Head")
        head["summary"] = .text("\(summary), without the body")
        head["responses"] = .object(responses.mapValues(withoutBody))
        return head
    }

    private static func withoutBody(_ response: JSONValue) -> JSONValue {
        guard case .object(var members) = response else { return response }
        if case .text(let name) = response["$ref"] { return ["description": .text(ProblemResponses.title(of: name))] }
        members["content"] = nil
        members["links"] = nil
        return .object(members)
    }

    /// A good answer in JSON.
    static func answer(_ description: String, schema: String, headers: [String: JSONValue] = [:]) -> JSONValue {
        [
            "description": .text(description), "headers": .object(HeaderDescriptions.usual.merging(headers) { $1 }),
            "content": ["application/json": ["schema": ["$ref": "#/components/schemas/\(schema)"]]],
        ]
    }

    /// A body in JSON that has to be there.
    static func body(schema: String, example: JSONValue) -> JSONValue {
        [
            "required": true,
            "content": [
                "application/json": ["schema": ["$ref": "#/components/schemas/\(schema)"], "example": example]
            ],
        ]
    }

    static func path(_ name: String, _ description: String, schema: JSONValue) -> JSONValue {
        ["name": .text(name), "in": "path", "required": true, "description": .text(description), "schema": schema]
    }

    static func query(_ name: String, _ description: String, schema: JSONValue) -> JSONValue {
        ["name": .text(name), "in": "query", "description": .text(description), "schema": schema]
    }

    static func header(_ name: String, _ description: String, schema: JSONValue) -> JSONValue {
        ["name": .text(name), "in": "header", "description": .text(description), "schema": schema]
    }
}

/// The parts that schemas are put together of.
enum Schema {
    /// An object with these members and no others; all have to be there but the optional ones.
    static func object(_ members: [String: JSONValue], optional: Set<String> = []) -> JSONValue {
        [
            "type": "object", "additionalProperties": false, "properties": .object(members),
            "required": .list(members.keys.filter { !optional.contains($0) }.sorted().map(JSONValue.text)),
        ]
    }

    /// An object that has all these members, and may have others later.
    static func growing(_ members: [String: JSONValue]) -> JSONValue {
        var schema = object(members)
        schema["additionalProperties"] = true
        return schema
    }

    static func text(_ description: String, format: String? = nil) -> JSONValue {
        var schema: JSONValue = ["type": "string", "description": .text(description)]
        if let format { schema["format"] = .text(format) }
        return schema
    }

    static func list(_ schema: String) -> JSONValue {
        ["type": "array", "items": ["$ref": "#/components/schemas/\(schema)"]]
    }

    static func orNull(_ schema: String) -> JSONValue {
        ["oneOf": [["$ref": "#/components/schemas/\(schema)"], ["type": "null"]]]
    }

    static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> JSONValue
    where Word.RawValue == String {
        .list(Word.allCases.map { .text($0.rawValue) })
    }

    /// What an object is that has at least one of these members, null being as good as none: a rule that leaves the
    /// object a plain one for generated clients, which make a union of an `anyOf`.
    static func notEmpty(_ members: [String]) -> JSONValue {
        ["properties": .object(Dictionary(uniqueKeysWithValues: members.map { ($0, ["type": "null"]) }))]
    }

    /// One of the words, or null.
    static func choice<Word: RawRepresentable & CaseIterable>(_ type: Word.Type, _ description: String) -> JSONValue
    where Word.RawValue == String {
        ["description": .text(description), "enum": .list(Word.allCases.map { .text($0.rawValue) } + [.null])]
    }

    static let time: JSONValue = ["type": "string", "format": "date-time"]
    static let timeOrNull: JSONValue = ["type": ["string", "null"], "format": "date-time"]
    static let digest: JSONValue = ["type": "string", "pattern": "^[0-9a-f]{64}$"]
    static let digestOrNull: JSONValue = ["type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"]
    static let textOrNull: JSONValue = ["type": ["string", "null"]]
    static let wholeOrNull: JSONValue = ["type": ["integer", "null"], "minimum": 0]
    static let numberOrNull: JSONValue = ["type": ["number", "null"], "minimum": 0]
    static let side: JSONValue = ["type": "integer", "minimum": 1]
}

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

/// Any JSON, written as Swift literals.
enum JSONValue: Sendable, Hashable {
    case null
    case flag(Bool)
    case whole(Int)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    /// The object's member; null for what has none.
    subscript(_ key: String) -> JSONValue {
        get {
            guard case .object(let members) = self else { return .null }
            return members[key] ?? .null
        }
        set {
            guard case .object(var members) = self else { return }
            members[key] = newValue
            self = .object(members)
        }
    }

    /// Two objects as one; the other one's members win.
    func merging(_ other: JSONValue) -> JSONValue {
        guard case .object(let mine) = self, case .object(let others) = other else { return other }
        return .object(mine.merging(others) { $1 })
    }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .whole(value) }
    init(floatLiteral value: Double) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(arrayLiteral elements: JSONValue...) { self = .list(elements) }
    init(nilLiteral: ()) { self = .null }

    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

extension JSONValue: Encodable {
    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .flag(let flag): try value.encode(flag)
        case .whole(let number): try value.encode(number)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let members): try value.encode(members)
        }
    }
}
