internal import Curl
internal import RichPush

/// The header lines of a request.
package struct RequestHeaders: Sendable {
    /// Names the caller may not set, in lower case: they belong to the transfer itself.
    package static let reserved: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "if-range", "keep-alive",
        "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Names with which the caller asks for a version itself.
    private static let conditions: Set<String> = [
        "if-match", "if-modified-since", "if-none-match", "if-unmodified-since",
    ]

    private let callers: [(name: String, value: String)]

    /// - Throws: `request.invalid` for a header that could not be sent as it is.
    init(_ callers: [(name: String, value: String)]) throws(AttachPrepError) {
        for (name, value) in callers {
            guard Self.isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw AttachPrepError(
                    .requestInvalid,
                    "The header \"\(name.prefix(64))\" has a name or value HTTP does not allow; correct or drop it."
                )
            }
            guard !Self.reserved.contains(name.lowercased()) else {
                throw AttachPrepError(
                    .requestInvalid, "The header \(name) is set by attachprep itself; drop it.")
            }
        }
        self.callers = callers
    }

    /// Whether the caller sets conditions of its own: then we set none.
    var hasConditions: Bool { callers.contains { Self.conditions.contains($0.name.lowercased()) } }

    /// The lines for one hop.
    ///
    /// - Parameters:
    ///   - isFirstOrigin: the caller's headers and user info go nowhere else.
    ///   - authorization: made of the user info; the caller's own header goes before it.
    ///   - condition: never together with a range: what is there is a part of another version then.
    func lines(
        isFirstOrigin: Bool, authorization: String?, resuming point: ResumePoint?, condition: ConditionalRequest? = nil
    ) -> [String] {
        var fields = isFirstOrigin ? callers : []
        let own = [
            ("User-Agent", Self.userAgent), ("Accept", "*/*"), ("Authorization", isFirstOrigin ? authorization : nil),
        ]
        for (name, value) in own {
            guard let value, !fields.contains(where: { $0.name.lowercased() == name.lowercased() }) else { continue }
            fields.append((name, value))
        }
        fields.append(("Accept-Encoding", "identity"))
        // libcurl leaves a header with an empty value out unless it ends in a semicolon.
        return fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
            // Bounded: lists.
            + (point?.headerLines ?? condition?.headerLines ?? [])
    }

    /// The lines of a request that is signed with all of them: nothing that a proxy on the way may change.
    var signedLines: [String] { callers.map { "\($0.name): \($0.value)" } }

    static let userAgent = "attachprep/\(ProductVersion.text)"

    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
