/// The status line and the fields of one answer.
package struct ResponseHead: Sendable, Hashable {
    package let status: Int
    /// Names in lower case, values trimmed, in order.
    package private(set) var fields: [(name: String, value: String)] = []

    package init(status: Int, _ fields: [(name: String, value: String)] = []) {
        self.status = status
        self.fields = fields
    }

    /// Reads "HTTP/1.1 200 OK"; nil for anything else.
    init?(statusLine: String) {
        let words = statusLine.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else { return nil }
        self.status = status
    }

    /// Reads "Name: value"; a line without a colon is skipped.
    mutating func add(line: String) {
        guard let colon = line.firstIndex(of: ":") else { return }
        let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
        fields.append((line[..<colon].lowercased(), String(value)))
    }

    /// The first value of a field; the name in lower case.
    package subscript(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    package static func == (left: ResponseHead, right: ResponseHead) -> Bool {
        left.status == right.status && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        for field in fields { hasher.combine(field.name) }
    }
}

extension ResponseHead {
    /// Whether libcurl hands the body on in another form than it was sent in.
    package var isEncoded: Bool {
        guard let encoding = self["content-encoding"]?.lowercased() else { return false }
        return !encoding.isEmpty && encoding != "identity"
    }

    /// Bytes of the body as sent; nil when the server does not say.
    package var contentLength: Int? {
        // RFC 9112 6.3: a transfer encoding overrides a length.
        guard self["transfer-encoding"] == nil, let length = self["content-length"].flatMap({ Int($0) }) else {
            return nil
        }
        return length >= 0 ? length : nil
    }

    /// The server's word on the type: lower case, no parameters.
    package var mimeType: String? {
        guard let text = self["content-type"]?.prefix(while: { $0 != ";" && $0 != "," }) else { return nil }
        let type = text.filter { !$0.isWhitespace }.lowercased()
        return type.isEmpty ? nil : type
    }

    /// What the server says of a piece of the body.
    package var contentRange: ContentRange? { self["content-range"].flatMap { ContentRange($0) } }
}
