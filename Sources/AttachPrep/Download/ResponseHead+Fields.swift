/// What a head says about the body.
extension ResponseHead {
    /// Whether the body is named as being in another form than the file's.
    package var isEncoded: Bool {
        values("content-encoding").contains { !$0.isEmpty && $0.lowercased() != "identity" }
    }

    /// Bytes of the body as sent; nil when the server does not say, `Int.max` when it is more than can be counted.
    package var contentLength: Int? {
        // RFC 9112 6.3: a transfer encoding overrides a length.
        guard self["transfer-encoding"] == nil, let text = lengths.first, Self.isNumber(text) else { return nil }
        return Int(text) ?? .max
    }

    /// A field that can be read in two ways, so that somebody between the server and us may have read it in the other.
    ///
    /// Nobody else would put another end to the body or lead to another place than we do.
    package var contradictoryField: String? {
        if !lengths.allSatisfy(Self.isNumber) || Set(lengths).count > 1 { return "Content-Length" }
        if Set(values("location")).count > 1 { return "Location" }
        if Set(values("content-range")).count > 1 { return "Content-Range" }
        return nil
    }

    /// The server's word on the type: lower case, no parameters; nil when it is no type.
    package var mimeType: String? {
        guard let text = self["content-type"]?.prefix(while: { $0 != ";" && $0 != "," }) else { return nil }
        let type = text.filter { !$0.isWhitespace }.lowercased()
        // It is shown to people and programs: RFC 6838, 4.2 has 127 characters for each half, none of them strange.
        let halves = type.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, halves.allSatisfy({ 1...127 ~= $0.utf8.count && $0.utf8.allSatisfy(Self.isName) })
        else { return nil }
        return type
    }

    /// What the server says of a piece of the body.
    package var contentRange: ContentRange? { self["content-range"].flatMap { ContentRange($0) } }

    /// Whether a piece is as long as its range says, as far as a length is declared.
    var isWholeRange: Bool {
        guard let range = contentRange, let length = contentLength else { return true }
        return range.length == length
    }

    /// Every length that is declared; "5, 5" is two (RFC 9110, 8.6).
    private var lengths: [String] {
        values("content-length").flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { $0.filter { !$0.isWhitespace } }
    }

    /// Digits alone: "+5" and "-5" are none.
    private static func isNumber(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$&-^_.+*".utf8.contains(byte)
        }
    }
}
