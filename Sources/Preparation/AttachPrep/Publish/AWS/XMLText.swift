/// Reads the text of single elements from XML responses. Pure.
///
/// A tolerant scan instead of a parser: the responses are small, the elements that are read contain only text, and the
/// callers validate the values.
enum XMLText {
    /// The text of the first element with that name; nil without one, or when longer than `bytesMax`.
    static func first(_ name: String, in bytes: [UInt8], bytesMax: Int = textBytesMax) -> String? {
        guard let start = opening(name, in: bytes) else { return nil }
        let content = bytes[start...].prefix(bytesMax + 1)
        guard let end = content.firstIndex(of: UInt8(ascii: "<")), bytes[end...].starts(with: "</".utf8) else {
            return nil
        }
        return plain(String(decoding: content[..<end], as: UTF8.self))
    }

    /// Whether there is an element with that name.
    static func has(_ name: String, in bytes: [UInt8]) -> Bool { opening(name, in: bytes) != nil }

    /// Escapes text for use in an element.
    static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        // By scalars: "<" and a following combining mark are one character, but still have to be escaped.
        for scalar in text.unicodeScalars {
            let name = names.first { $0.scalar == scalar }?.name
            escaped.append(contentsOf: name?.unicodeScalars ?? String(scalar).unicodeScalars)
        }
        return String(escaped)
    }

    /// Entities and their scalars; the first entity of a scalar is used for escaping.
    private static let names: [(name: String, scalar: Unicode.Scalar)] = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
        ("&#34;", "\""), ("&#39;", "'"),
    ]

    static let textBytesMax = 2_048
    /// Longer tags do not occur in S3 responses; without a limit, a response of only "<" would take quadratic time.
    private static let tagBytesMax = 256

    /// The index of the content of the first element with that name.
    private static func opening(_ name: String, in bytes: [UInt8]) -> Int? {
        var index = 0
        while let mark = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = mark + 1
            let tag = bytes[index...].prefix(tagBytesMax)
            guard let end = tag.firstIndex(of: UInt8(ascii: ">")), tag[..<end].last != UInt8(ascii: "/") else {
                continue
            }
            let elementName = String(decoding: tag[..<end].prefix { $0 > 0x20 }, as: UTF8.self)
            // A name may have a namespace prefix.
            if elementName == name || elementName.hasSuffix(":\(name)") { return end + 1 }
        }
        return nil
    }

    private static func plain(_ text: String) -> String {
        var (plain, rest) = (String.UnicodeScalarView(), text.unicodeScalars[...])
        while let scalar = rest.first {
            let known = names.first { rest.starts(with: $0.name.unicodeScalars) }
            plain.append(known?.scalar ?? scalar)
            rest = rest.dropFirst(known?.name.unicodeScalars.count ?? 1)
        }
        return String(plain)
    }
}
