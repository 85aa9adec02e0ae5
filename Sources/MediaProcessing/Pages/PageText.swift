import SafeArithmetic

/// Decodes the text of a web page.
///
/// Of the encodings of the web, UTF-8, UTF-16 and windows-1252 are decoded. Every other one is read as windows-1252:
/// markup and URLs are ASCII in all of them but UTF-16.
struct PageText: Sendable, Hashable {
    /// Without NULs; invalid sequences are replaced by U+FFFD.
    let text: String

    /// - Parameter declared: The encoding in the response's header; a byte order mark overrides it.
    init(_ bytes: [UInt8], declared: String?) {
        let decoded =
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
                String(decoding: bytes.dropFirst(3), as: UTF8.self)
            } else if bytes.starts(with: [0xFF, 0xFE]) {
                Self.utf16(bytes.dropFirst(2), isBigEndian: false)
            } else if bytes.starts(with: [0xFE, 0xFF]) {
                Self.utf16(bytes.dropFirst(2), isBigEndian: true)
            } else {
                Self.text(bytes, encoding: Self.known(declared) ?? Self.known(Self.meta(bytes)))
            }
        text = String(String.UnicodeScalarView(decoded.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }

    private enum Encoding {
        case utf8
        case utf16(isBigEndian: Bool)
        case windows1252
    }

    private static func known(_ label: String?) -> Encoding? {
        guard let label, !label.isEmpty else { return nil }
        return switch label.lowercased() {
        case "utf-8", "utf8", "unicode-1-1-utf-8": .utf8
        case "utf-16", "utf-16le": .utf16(isBigEndian: false)
        case "utf-16be": .utf16(isBigEndian: true)
        default: .windows1252
        }
    }

    private static func text(_ bytes: [UInt8], encoding: Encoding?) -> String {
        switch encoding {
        case .utf8: String(decoding: bytes, as: UTF8.self)
        case .utf16(let isBigEndian): utf16(bytes[...], isBigEndian: isBigEndian)
        case .windows1252: windows1252(bytes)
        case nil: isUTF8(bytes) ? String(decoding: bytes, as: UTF8.self) : windows1252(bytes)
        }
    }

    /// Whether it is valid but for the last character, which may be cut.
    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        var bytes = bytes[...]
        for _ in 0..<3 {
            if String(validating: bytes, as: UTF8.self) != nil { return true }
            bytes = bytes.dropLast()
        }
        return String(validating: bytes, as: UTF8.self) != nil
    }

    /// The encoding in the first kilobyte, such as `<meta charset=utf-8>`. UTF-16 there is wrong: it was read as ASCII.
    private static func meta(_ bytes: [UInt8]) -> String? {
        let head = String(decoding: bytes.prefix(1_024), as: UTF8.self).lowercased()
        guard let mark = head.firstRange(of: "charset") else { return nil }
        let rest = head[mark.upperBound...].drop { $0.isWhitespace }
        guard rest.first == "=" else { return nil }
        let value = rest.dropFirst().drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
        let label = value.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_:".contains($0)) }
        return label.hasPrefix("utf-16") ? "utf-8" : String(label)
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> String {
        // Bounded: pairs of a list in memory.
        let units = stride(from: bytes.startIndex, to: bytes.endIndex - bytes.count % 2, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))  // Bounded: an index of a pair.
            // Bounded: shifts of a byte within 16 bits.
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        return String(decoding: units, as: UTF16.self)
    }

    private static func windows1252(_ bytes: [UInt8]) -> String {
        var scalars = String.UnicodeScalarView()
        for byte in bytes {
            // Bounded: an index below 32.
            scalars.append((0x80..<0xA0).contains(byte) ? upper[Int(byte) - 0x80] : Unicode.Scalar(byte))
        }
        return String(scalars)
    }

    /// The characters from 0x80 to 0x9F.
    private static let upper: [Unicode.Scalar] = [
        "\u{20AC}", "\u{81}", "\u{201A}", "\u{192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}", "\u{2C6}",
        "\u{2030}", "\u{160}", "\u{2039}", "\u{152}", "\u{8D}", "\u{17D}", "\u{8F}", "\u{90}", "\u{2018}", "\u{2019}",
        "\u{201C}", "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}", "\u{2DC}", "\u{2122}", "\u{161}", "\u{203A}",
        "\u{153}", "\u{9D}", "\u{17E}", "\u{178}",
    ]
}
