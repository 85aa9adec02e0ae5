// Bounded throughout: positions within a string in memory; a unit has 16 bits.
/// Escaping in JSON strings.
package enum JSONEscaping {
    /// Encodes a string with quotes; escapes only what JSON requires and, optionally, slashes.
    package static func string(_ text: String, escapingSlashes: Bool = false) -> [UInt8] {
        [UInt8(ascii: "\"")] + inside(text.utf8, escapingSlashes: escapingSlashes) + [UInt8(ascii: "\"")]
    }

    /// Encodes the content of a string, without quotes.
    package static func inside(_ text: some Sequence<UInt8>, escapingSlashes: Bool) -> [UInt8] {
        text.reduce(into: []) { spelled, byte in
            switch byte {
            case 0x00..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): spelled += escaped(byte)
            case UInt8(ascii: "/") where escapingSlashes: spelled += escaped(byte)
            default: spelled.append(byte)
            }
        }
    }

    /// The escape sequence of an ASCII character.
    package static func escaped(_ byte: UInt8) -> [UInt8] {
        let letter: Unicode.Scalar? =
            switch byte {
            case 0x08: "b"
            case 0x09: "t"
            case 0x0A: "n"
            case 0x0C: "f"
            case 0x0D: "r"
            default: byte < 0x20 ? nil : Unicode.Scalar(byte)
            }
        return Array((letter.map { "\\\($0)" } ?? "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))").utf8)
    }

    /// The character of an escape letter other than `u`; nil when JSON does not define it.
    package static func meaning(ofEscape letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "r"): 0x0D
        default: nil
        }
    }

    /// The UTF-16 code unit of the `\uXXXX` at an offset; nil when there is none.
    package static func codeUnit(_ bytes: [UInt8], at start: Int) -> UInt16? {
        guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"), bytes[start + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[start + 2..<start + 6] {
            // The integer initializer of the standard library would accept "+fff".
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}

// Bounded throughout: positions within a string in memory; a unit has 16 bits.
/// A decoded JSON string with the source offset of each of its bytes.
///
/// The offsets allow edits of JSON inside a string that keep the spelling of the rest.
package struct JSONStringToken {
    /// The decoded string in UTF-8.
    package private(set) var content: [UInt8] = []
    /// The source offset of each byte of `content`, and of its end.
    package private(set) var origins: [Int] = []
    /// Whether slashes are written `\/`, as PHP does.
    package private(set) var escapesSlashes = false

    /// Decodes a string that the parser has validated; `range` includes the quotes.
    package init(_ bytes: [UInt8], _ range: Range<Int>) {
        content.reserveCapacity(range.count)
        var position = range.lowerBound + 1
        while position < range.upperBound - 1 {
            let start = position
            let before = content.count
            if bytes[position] != UInt8(ascii: "\\") {
                content.append(bytes[position])
                position += 1
            } else if let byte = JSONEscaping.meaning(ofEscape: bytes[position + 1]) {
                if byte == UInt8(ascii: "/") { escapesSlashes = true }
                content.append(byte)
                position += 2
            } else {
                let units = Self.codeUnits(bytes, at: position)
                content += String(decoding: units, as: UTF16.self).utf8
                position += 6 * units.count
            }
            origins += repeatElement(start, count: content.count - before)
        }
        origins.append(position)
    }

    /// One code unit, or the two of a surrogate pair.
    private static func codeUnits(_ bytes: [UInt8], at start: Int) -> [UInt16] {
        guard let unit = JSONEscaping.codeUnit(bytes, at: start) else {
            preconditionFailure("The parser must reject invalid escapes.")
        }
        guard UTF16.isLeadSurrogate(unit), let trail = JSONEscaping.codeUnit(bytes, at: start + 6) else {
            return [unit]
        }
        return [unit, trail]
    }
}
