import RichPush

/// Media.
enum MediaPaths {
    static let all: [String: JSONValue] = [
        "/media/{id}/{file}": [
            "get": Operation.operation(
                "fetchMedia", tag: "media", "Fetch a file of a result",
                description: """
                    Needs no token: the id has 128 random bits. What it answers never changes. Files of a service that \
                    publishes to a bucket are there alone: their manifest's url leads to them.
                    """,
                parameters: [
                    Operation.path(
                        "id", "As in the manifest's url", schema: ["type": "string", "pattern": "^[0-9a-f]{32}$"]),
                    Operation.path(
                        "file", "As in the manifest's file",
                        schema: ["type": "string", "pattern": "^[a-z0-9]+[.][a-z0-9]+$", "maxLength": 100]),
                    Operation.header("Range", "One range of bytes", schema: ["type": "string"]),
                    Operation.header("If-Range", "The ETag that the range is meant of", schema: ["type": "string"]),
                    Operation.header("If-None-Match", "ETags that are known", schema: ["type": "string"]),
                ],
                answers: ["200": content("All of it"), "206": part, "304": known], problems: [404, 416], isOpen: true)
        ]
    ]

    private static func content(_ description: String) -> JSONValue {
        // The last one is never sent: clients whose generator knows no type of media read it as bytes.
        let names = Set(AttachmentType.allCases.map(\.mimeType)).union(["application/octet-stream"])
        let types = names.map { ($0, JSONValue.object(["schema": binary])) }
        return [
            "description": .text(description), "headers": .object(headers),
            "content": .object(Dictionary(uniqueKeysWithValues: types)),
        ]
    }

    private static let binary: JSONValue = ["type": "string", "format": "binary"]

    private static var part: JSONValue {
        var part = content("The part that was asked for")
        part["headers"] = part["headers"].merging(["Content-Range": HeaderDescriptions.reference("Content-Range")])
        return part
    }

    private static let known: JSONValue = [
        "description": "The caller has it already", "headers": .object(HeaderDescriptions.usual),
    ]

    private static let headers: [String: JSONValue] = HeaderDescriptions.usual.merging(
        ["ETag", "Accept-Ranges", "Cache-Control", "Content-Disposition"].map {
            ($0, HeaderDescriptions.reference($0))
        }
    ) { $1 }
}
