/// How many columns of a terminal a text takes: pure.
///
/// By Unicode's East Asian Width (UAX #11), as terminals read it: ideographs and emoji take two columns, marks that
/// stand over other letters none, all else one. Ambiguous ones are narrow.
enum DisplayWidth {
    static func columns(of text: String) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    static func columns(of character: Character) -> Int {
        // Printable ASCII is nearly all there is.
        if let value = character.asciiValue { return value >= 0x20 && value < 0x7f ? 1 : 0 }
        return isEmoji(character) ? 2 : character.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
    }

    /// Shown as a picture: of itself, by the selector behind it, or as a flag of two letters.
    private static func isEmoji(_ character: Character) -> Bool {
        guard let first = character.unicodeScalars.first else { return false }
        let isPair = character.unicodeScalars.count > 1
        if 0x1F1E6...0x1F1FF ~= first.value { return isPair }
        if first.properties.isEmojiPresentation { return true }
        return isPair && first.properties.isEmoji && character.unicodeScalars.contains { $0.value == 0xFE0F }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        // Vowels and final consonants of Hangul stand inside the block of the first one.
        if 0x1160...0x11FF ~= scalar.value || 0xD7B0...0xD7FF ~= scalar.value { return 0 }
        return wide.contains { $0 ~= scalar.value } ? 2 : 1
    }

    /// Wide and fullwidth, gaps of unassigned characters included: they are reserved for more of the same.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // first consonants of Hangul
        0x2E80...0x303E,  // radicals, punctuation
        0x3041...0x4DBF,  // kana, Hangul letters, enclosed, ideographs of extension A
        0x4E00...0xA4CF,  // ideographs, Yi
        0xA960...0xA97F,  // more first consonants
        0xAC00...0xD7A3,  // syllables of Hangul
        0xF900...0xFAFF,  // compatibility ideographs
        0xFE10...0xFE19, 0xFE30...0xFE6F,  // vertical and small forms
        0xFF01...0xFF60, 0xFFE0...0xFFE6,  // fullwidth forms
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,  // Tangut, Nushu, older kana
        0x1F200...0x1F2FF,  // enclosed ideographs
        0x20000...0x3FFFD,  // the ideographs' own planes
    ]
}
