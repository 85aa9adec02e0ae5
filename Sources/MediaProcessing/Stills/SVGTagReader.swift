import SafeArithmetic

/// A start or end tag of an SVG. Names are without the prefixes of namespaces, so that some occur more than once.
struct SVGTag {
    /// Attributes that are read; paths have others that are long.
    static let attributeNames = SVGDeclaration.names.union(["id", "class", "href", "style"])

    let name: String
    let attributes: [(name: String, value: String)]
    let isEnd: Bool
    /// Whether the element ends with this tag.
    let isEmpty: Bool

    var ids: [String] { values("id").map(CSSText.name) }
    var classes: [String] {
        values("class").flatMap { $0.lowercased().split { $0.isWhitespace } }.map(String.init)
    }

    /// What `href` refers to in the same document.
    var links: [String] {
        values("href").compactMap { target in
            target.firstIndex(of: "#").map { hash in
                CSSText.name(target[target.index(after: hash)...].filter { !$0.isWhitespace })
            }
        }
    }

    /// Properties of the element itself.
    var declarations: [SVGDeclaration] {
        attributes.flatMap { name, value in
            let text = CSSText.plain(value)
            return name == "style"
                ? SVGDeclaration.list(text) : [SVGDeclaration(name, text)].compactMap { $0 }
        }
    }

    private func values(_ name: String) -> [String] { attributes.filter { $0.name == name }.map(\.value) }
}

/// Reads the tags of an SVG one after another. A document that is not well-formed is librsvg's to reject.
struct SVGTagReader {
    private static let references = [
        ("&quot;", "\""), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
    ]

    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    // Bounded throughout: offsets in memory.

    /// The next tag; nil at the end.
    mutating func next() -> SVGTag? {
        while let start = bytes[offset...].firstIndex(of: UInt8(ascii: "<")) {
            offset = start
            if !skipOther() { return tag() }
        }
        offset = bytes.count
        return nil
    }

    /// The text up to the next end tag; nil when another element is inside.
    mutating func content() -> String? {
        let section = "<![CDATA["
        var text = ""
        while offset < bytes.count {
            let next = bytes[offset...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
            text += string(offset..<next)
            offset = next
            let isSection = has(section)
            if has("</") || offset == bytes.count { return text }
            guard skipOther() else { return nil }
            if isSection {
                text += String(decoding: bytes[next..<offset].dropFirst(section.utf8.count).dropLast(3), as: UTF8.self)
            }
        }
        return text
    }

    /// Skips a comment, a CDATA section, an instruction or a declaration; false for a tag.
    private mutating func skipOther() -> Bool {
        guard has("<!") || has("<?") else { return false }
        for (beginning, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] where has(beginning) {
            offset += beginning.utf8.count
            while let next = bytes[offset...].firstIndex(of: end.utf8.first ?? 0), offset < bytes.count {
                offset = next
                if has(end) { break }
                offset += 1
            }
            offset = has(end) ? offset + end.utf8.count : bytes.count
            return true
        }
        // A declaration; those inside of a document type follow its bracket. Only in quotes can it have other signs.
        var quote: UInt8?
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "[") {
                break
            }
        }
        return true
    }

    private func has(_ text: String) -> Bool { bytes[offset...].starts(with: text.utf8) }

    private mutating func tag() -> SVGTag {
        offset += 1
        let isEnd = consume(UInt8(ascii: "/"))
        let name = self.name()
        var attributes: [(name: String, value: String)] = []
        while offset < bytes.count {
            if consume(UInt8(ascii: ">")) {
                return SVGTag(name: name, attributes: attributes, isEnd: isEnd, isEmpty: false)
            }
            if consume(UInt8(ascii: "/")) {
                guard consume(UInt8(ascii: ">")) else { continue }
                return SVGTag(name: name, attributes: attributes, isEnd: isEnd, isEmpty: true)
            }
            let attribute = self.name()
            guard !attribute.isEmpty else {
                offset += 1
                continue
            }
            skipSpaces()
            guard consume(UInt8(ascii: "=")) else { continue }
            skipSpaces()
            let value = self.value()
            if SVGTag.attributeNames.contains(attribute) { attributes.append((attribute, string(value))) }
        }
        return SVGTag(name: name, attributes: attributes, isEnd: isEnd, isEmpty: false)
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpaces() {
        while offset < bytes.count, bytes[offset] <= 0x20 { offset += 1 }
    }

    /// Without its prefix.
    private mutating func name() -> String {
        let start = offset
        while offset < bytes.count, bytes[offset] > 0x20, !"=/>".utf8.contains(bytes[offset]) { offset += 1 }
        let name = bytes[start..<offset]
        let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
        return String(decoding: local, as: UTF8.self)
    }

    /// The range of a value in quotes.
    private mutating func value() -> Range<Int> {
        guard offset < bytes.count, case let quote = bytes[offset], quote == 0x22 || quote == 0x27 else {
            return offset..<offset
        }
        let start = offset + 1
        let end = bytes[start...].firstIndex(of: quote) ?? bytes.count
        offset = min(bytes.count, end + 1)
        return start..<end
    }

    /// With the five references that XML defines.
    private func string(_ range: Range<Int>) -> String {
        let text = String(decoding: bytes[range], as: UTF8.self)
        guard bytes[range].contains(UInt8(ascii: "&")) else { return text }
        return Self.references.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
