import SafeArithmetic

/// A property that matters for `SVGDepth`, and its value.
struct SVGDeclaration: Hashable {
    private static let layers: Set = ["mask", "filter", "opacity", "clip-path", "mix-blend-mode", "isolation"]
    private static let paints: Set = ["fill", "stroke", "marker", "marker-start", "marker-mid", "marker-end"]
    /// The properties that matter.
    static let names = layers.union(paints)
    /// Values without a layer.
    private static let inactive: Set = ["none", "normal", "auto", "1", "1.0"]

    /// Whether it needs an image of its own.
    let isLayer: Bool
    /// The `id` of each `url(#id)`: a filter has several.
    let references: [String]
    /// Whether CSS escapes could hide a name or an address.
    let hasEscapes: Bool

    /// Nil for what neither needs an image nor refers to an element.
    ///
    /// - Parameter value: As `CSSText` has it.
    init?(_ name: String, _ value: String) {
        let name = name.lowercased()
        let backslash = UInt8(ascii: "\\")
        hasEscapes = name.utf8.contains(backslash) || Self.names.contains(name) && value.utf8.contains(backslash)
        guard Self.names.contains(name) || hasEscapes else { return nil }
        let word = String(decoding: value.utf8.filter { $0 > 0x20 }, as: UTF8.self).lowercased()
        isLayer = Self.layers.contains(name) && !Self.inactive.contains(word)
        let hasAddress = value.utf8.contains(UInt8(ascii: "("))
        references =
            hasAddress ? value.matches(of: /(?i)url\(\s*["']?#([^"')\s]+)/).map { String($0.1) } : []
        guard isLayer || hasEscapes || !references.isEmpty else { return nil }
    }

    /// The declarations of a `style` attribute or a rule.
    ///
    /// - Parameter text: As `CSSText` has it.
    static func list(_ text: String) -> [SVGDeclaration] {
        text.utf8.split(separator: UInt8(ascii: ";")).compactMap { part -> SVGDeclaration? in
            let pair = part.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard pair.count == 2 else { return nil }
            return SVGDeclaration(
                String(decoding: pair[0].filter { $0 > 0x20 }, as: UTF8.self), String(Substring(pair[1])))
        }
    }
}

/// The rules of an SVG's style sheets, as far as they matter for `SVGDepth`.
struct SVGStyleSheet {
    /// The last part of a selector: `path.dark` of `g > path.dark:hover`. What it cannot tell apart, it matches.
    private struct Selector {
        /// Nil for any element.
        let element: String?
        let classes: [String]
        let ids: [String]

        init(_ text: Substring) {
            // Attributes, arguments, namespaces and the ends of other blocks may mean anything.
            let isPlain = !text.contains { "[]()|@\"'".contains($0) }
            let last = isPlain ? text.split { $0.isWhitespace || ">+~".contains($0) }.last ?? "" : ""
            let compound = String(last.prefix { $0 != ":" }).lowercased()
            let element = compound.prefix { $0 != "." && $0 != "#" }
            self.element = element.isEmpty || element == "*" ? nil : String(element)
            classes = compound.matches(of: /\.([^.#]+)/).map { String($0.1) }
            ids = compound.matches(of: /#([^.#]+)/).map { String($0.1) }
        }

        func matches(_ tag: SVGTag, classes found: [String]) -> Bool {
            guard element == nil || element == tag.name.lowercased() else { return false }
            return classes.allSatisfy(found.contains)
                && ids.allSatisfy { id in tag.ids.contains { $0.lowercased() == id } }
        }
    }

    private var rules: [(selectors: [Selector], declarations: [SVGDeclaration])] = []

    /// - Returns: Nil for a sheet that has elements inside, or whose selectors have escapes.
    init?(_ bytes: [UInt8]) {
        var reader = SVGTagReader(bytes)
        while let tag = reader.next() {
            guard tag.name == "style", !tag.isEnd, !tag.isEmpty else { continue }
            guard let sheet = reader.content(), add(CSSText.plain(sheet)) else { return nil }
        }
    }

    private mutating func add(_ sheet: String) -> Bool {
        // What is before a brace is a selector, or begins a group such as `@media`, whose rules count as well.
        var before: Substring = ""
        for part in sheet.split(separator: "{", omittingEmptySubsequences: false) {
            let declarations = SVGDeclaration.list(String(part.prefix { $0 != "}" }))
            if !declarations.isEmpty {
                if before.contains("\\") { return false }
                // A statement such as `@import` may be before it.
                let selectors = (before.split(separator: ";").last ?? "").split(separator: ",").map(Selector.init)
                rules.append((selectors.isEmpty ? [Selector("")] : selectors, declarations))
            }
            before = part.lastIndex(of: "}").map { part[part.index(after: $0)...] } ?? part
        }
        return true
    }

    func declarations(for tag: SVGTag) -> [SVGDeclaration] {
        guard !rules.isEmpty else { return [] }
        let classes = tag.classes
        return rules.flatMap { rule in
            rule.selectors.contains { $0.matches(tag, classes: classes) } ? rule.declarations : []
        }
    }
}

/// CSS without comments, and without punctuation inside strings and addresses: what is left can be split at it.
///
/// Source: CSS Syntax Module Level 3, 4.3 (tokens). Escapes are left, and rejected later.
enum CSSText {
    private static let punctuation = Array("{};:,*/".utf8)

    // Bounded throughout: offsets in memory.

    static func plain(_ text: String) -> String {
        // Most values have none of what is removed.
        if !text.utf8.contains(where: { "/(\"'".utf8.contains($0) }) { return text }
        let bytes = Array(text.utf8)
        var (plain, offset) = ([UInt8](), 0)
        plain.reserveCapacity(bytes.count)
        while offset < bytes.count {
            let byte = bytes[offset]
            if bytes[offset...].starts(with: "/*".utf8) {
                offset = end(of: bytes, after: offset + 2) { bytes[$0...].starts(with: "*/".utf8) } + 2
                plain.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                // A string ends with its line at the latest.
                let end = end(of: bytes, after: offset + 1) { bytes[$0] == byte || [10, 12, 13].contains(bytes[$0]) }
                plain += [byte] + bytes[min(offset + 1, end)..<end].map(replaced) + [byte]
                offset = end + 1
            } else if isAddress(bytes, offset) {
                let end = end(of: bytes, after: offset) { bytes[$0] == UInt8(ascii: ")") }
                plain += bytes[offset..<end].map(replaced)
                offset = end
            } else {
                plain.append(byte)
                offset += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// A name as `plain` has it in an address.
    static func name(_ text: String) -> String {
        String(decoding: text.utf8.map(replaced), as: UTF8.self)
    }

    private static func end(of bytes: [UInt8], after start: Int, _ isEnd: (Int) -> Bool) -> Int {
        var offset = min(start, bytes.count)
        while offset < bytes.count, !isEnd(offset) { offset += 1 }
        return offset
    }

    private static func replaced(_ byte: UInt8) -> UInt8 {
        punctuation.contains(byte) ? UInt8(ascii: "_") : byte
    }

    /// Whether `url(` without quotes begins there.
    private static func isAddress(_ bytes: [UInt8], _ offset: Int) -> Bool {
        guard bytes[offset] | 0x20 == UInt8(ascii: "u"),
            bytes[offset...].prefix(4).map({ $0 | 0x20 }).elementsEqual([0x75, 0x72, 0x6C, 0x28])
        else { return false }
        if offset > 0, isNamePart(bytes[offset - 1]) { return false }
        let content = bytes[(offset + 4)...].first { $0 > 0x20 }
        return content != UInt8(ascii: "\"") && content != UInt8(ascii: "'")
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
