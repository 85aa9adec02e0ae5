/// How JSON spells what a string says.
enum PayloadSpelling {
    /// A string with its quotes; escapes what must be, and slashes where that is the habit.
    static func string(_ text: String, escapingSlashes: Bool = false) -> [UInt8] {
        [UInt8(ascii: "\"")] + inside(text.utf8, escapingSlashes: escapingSlashes) + [UInt8(ascii: "\"")]
    }

    /// The same without the quotes.
    static func inside(_ text: some Sequence<UInt8>, escapingSlashes: Bool) -> [UInt8] {
        text.reduce(into: []) { spelled, byte in
            switch byte {
            case 0x00..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): spelled += escaped(byte)
            case UInt8(ascii: "/") where escapingSlashes: spelled += escaped(byte)
            default: spelled.append(byte)
            }
        }
    }

    /// A character of one byte behind a backslash.
    static func escaped(_ byte: UInt8) -> [UInt8] {
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

    /// What stands for a letter behind a backslash, `u` aside; nil for letters that JSON does not know.
    static func meaning(ofEscape letter: UInt8) -> UInt8? {
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

    /// The code unit of a `\uXXXX` that begins there; nil where none does.
    static func codeUnit(_ bytes: [UInt8], at start: Int) -> UInt16? {
        guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"), bytes[start + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[start + 2..<start + 6] {
            // "+fff" would be a number to the standard library.
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
