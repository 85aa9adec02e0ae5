/// The text of single elements in what S3 answers. Pure.
///
/// A tolerant scan and no parser: an answer is small, its elements of interest hold text alone, and what a hostile one
/// says is looked at again by whoever uses it.
enum XMLText {
    /// What stands in the first element of that name; nil without one, or when it is longer than anything we look for.
    static func first(_ name: String, in bytes: [UInt8]) -> String? {
        guard let start = opening(name, in: bytes) else { return nil }
        // Bounded: 2,048.
        let content = bytes[start...].prefix(textBytesMax + 1)
        guard let end = content.firstIndex(of: UInt8(ascii: "<")), bytes[end...].starts(with: "</".utf8) else {
            return nil
        }
        return plain(String(decoding: content[..<end], as: UTF8.self))
    }

    /// Whether an element of that name begins somewhere.
    static func has(_ name: String, in bytes: [UInt8]) -> Bool { opening(name, in: bytes) != nil }

    /// As it may stand in an element of ours.
    static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        // By scalars: a bracket with a mark behind it is one character, and a bracket all the same.
        for scalar in text.unicodeScalars {
            let name = names.first { $0.scalar == scalar }?.name
            escaped.append(contentsOf: name?.unicodeScalars ?? String(scalar).unicodeScalars)
        }
        return String(escaped)
    }

    /// What is written for a scalar comes first.
    private static let names: [(name: String, scalar: Unicode.Scalar)] = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
        ("&#34;", "\""), ("&#39;", "'"),
    ]

    static let textBytesMax = 2_048
    /// A tag that is longer is none of S3's; without a bound a page of "<" would take the square of its length.
    private static let tagBytesMax = 256

    /// Where the content of the first such element begins.
    private static func opening(_ name: String, in bytes: [UInt8]) -> Int? {
        var place = 0
        while let mark = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
            // Bounded: an index of what is in memory.
            place = mark + 1
            let tag = bytes[place...].prefix(tagBytesMax)
            guard let end = tag.firstIndex(of: UInt8(ascii: ">")), tag[..<end].last != UInt8(ascii: "/") else {
                continue
            }
            let called = String(decoding: tag[..<end].prefix { $0 > 0x20 }, as: UTF8.self)
            // A prefix stands for a name space.
            // Bounded: an index of what is in memory.
            if called == name || called.hasSuffix(":\(name)") { return end + 1 }
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
