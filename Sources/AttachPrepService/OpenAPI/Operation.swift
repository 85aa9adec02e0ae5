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
