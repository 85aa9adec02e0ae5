/// Text from outside in messages, log values and manifest fields: cut and escaped once, when it enters them.
package enum MessageText {
    /// Bytes of an excerpt: two lines of a terminal.
    package static let excerptBytesMax = 160
    /// Bytes of a whole message; of our own, the longest have some 400.
    package static let messageBytesMax = 2_048

    /// The beginning of a text, with control characters escaped.
    ///
    /// - Parameter escape: what a control character is replaced by; `\u{…}` unless given.
    package static func excerpt(
        _ text: String, bytesMax: Int = excerptBytesMax, escape: (Unicode.Scalar) -> String = MessageText.escape
    ) -> String {
        guard text.utf8.count > bytesMax || !isPlain(text) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            let piece = isControl(scalar) ? escape(scalar) : String(scalar)
            guard shown.utf8.count <= bytesMax - piece.utf8.count else { return shown + "…" }
            shown += piece
        }
        return shown
    }

    /// A whole message, which may contain text from outside.
    package static func message(_ text: String) -> String { excerpt(text, bytesMax: messageBytesMax) }

    /// Whether a character can change what a terminal shows: C0, DEL, C1, line separators and bidirectional formatting.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The character as `\u{…}`.
    package static func escape(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

    /// Whether nothing is escaped in a text; the fast path of most.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { 0x20..<0x7F ~= $0 } || !text.unicodeScalars.contains(where: isControl)
    }
}
