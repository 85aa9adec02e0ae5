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
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]), 100...999 ~= status else {
            return nil
        }
        self.status = status
    }

    /// Reads "Name: value"; a line without a colon is skipped.
    ///
    /// A line that begins with a space goes on where the last one ended (RFC 9112, 5.2).
    mutating func add(line: String) {
        if line.first?.isWhitespace == true, let last = fields.indices.last {
            let rest = String(line.drop(while: \.isWhitespace))
            // Bounded: text.
            fields[last].value += fields[last].value.isEmpty ? rest : " " + rest
            return
        }
        guard let colon = line.firstIndex(of: ":") else { return }
        let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
        fields.append((line[..<colon].lowercased(), String(value)))
    }

    /// The first value of a field; the name in lower case.
    package subscript(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// All values of a field.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    package static func == (left: ResponseHead, right: ResponseHead) -> Bool {
        left.status == right.status && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        for field in fields { hasher.combine(field.name) }
    }
}
