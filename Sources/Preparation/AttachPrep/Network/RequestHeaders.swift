internal import AttachPrepModel
internal import Curl
internal import MediaTypes
internal import SafeArithmetic

/// The caller's request headers, validated, and the header lines sent for each hop.
package struct RequestHeaders: Sendable {
    /// Names, in lowercase, that the caller must not set because the transfer sets them.
    package static let reserved: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "if-range", "keep-alive",
        "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Names, in lowercase, of the caller's own conditional headers.
    private static let conditions: Set<String> = [
        "if-match", "if-modified-since", "if-none-match", "if-unmodified-since",
    ]

    private let callers: [(name: String, value: String)]

    /// - Throws: `request.invalid` for an invalid or reserved header.
    init(_ callers: [(name: String, value: String)]) throws(AttachPrepError) {
        for (name, value) in callers {
            guard Self.isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw AttachPrepError(
                    .requestInvalid,
                    "The header \"\(MessageText.excerpt(name, bytesMax: 64))\" has a name or value that HTTP forbids; "
                        + "correct or remove it."
                )
            }
            guard !Self.reserved.contains(name.lowercased()) else {
                throw AttachPrepError(
                    .requestInvalid, "The header \(name) is set by attachprep itself; remove it.")
            }
        }
        self.callers = callers
    }

    /// Whether the caller sets conditional headers; then none are added.
    var hasConditions: Bool { callers.contains { Self.conditions.contains($0.name.lowercased()) } }

    /// The header lines for one hop.
    ///
    /// - Parameters:
    ///   - isFirstOrigin: Whether the hop has the origin of the requested URL; only then are the caller's headers and
    ///     credentials sent.
    ///   - authorization: The `Authorization` value from the URL's user info; the caller's own header overrides it.
    ///   - cookie: Makes the value of the `Cookie` header from the caller's, which is nil without one.
    ///   - point: Where to resume; nil requests the whole file.
    ///   - condition: The conditional headers, ignored when resuming.
    func lines(
        isFirstOrigin: Bool, authorization: String?, cookie: (String?) -> String? = { $0 },
        resuming point: ResumePoint?, condition: ConditionalRequest? = nil
    ) -> [String] {
        var fields = isFirstOrigin ? callers : []
        let index = fields.firstIndex { $0.name.lowercased() == "cookie" }
        if let value = cookie(index.map { fields[$0].value }) {
            if let index { fields.remove(at: index) }
            fields.append(("Cookie", value))
        }
        let own = [
            ("User-Agent", Self.userAgent), ("Accept", "*/*"), ("Authorization", isFirstOrigin ? authorization : nil),
        ]
        for (name, value) in own {
            guard let value, !fields.contains(where: { $0.name.lowercased() == name.lowercased() }) else { continue }
            fields.append((name, value))
        }
        fields.append(("Accept-Encoding", "identity"))
        // libcurl omits a header with an empty value unless it is written with a semicolon.
        return fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
            + (point?.headerLines ?? condition?.headerLines ?? [])
    }

    /// The header lines of a signed request: only the caller's, since a proxy may change others and so invalidate the
    /// signature.
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
