/// A key with its modifiers, as the DevTools protocol's events describe it.
struct PageKey {
    private let key: String
    private let code: String
    /// The Windows virtual key code, which pages still read as `keyCode`; 0 when the key has none.
    private let number: Int
    /// The text that it inserts; empty when it inserts none.
    private let text: String
    /// The sum of alt 1, control 2, meta 4 and shift 8.
    private let modifiers: Int

    /// - Parameter name: for example "Enter", "a", "Shift+Tab" or "Control+a".
    /// - Throws: `BrowserError` when there is no such key.
    init(_ name: String) throws {
        var (rest, modifiers) = (Substring(name), 0)
        while let (prefix, value) = Self.modifiers.first(where: { rest.hasPrefix($0.0) && rest.count > $0.0.count }) {
            rest = rest.dropFirst(prefix.count)
            modifiers |= value
        }
        self.modifiers = modifiers
        if let named = Self.named[String(rest)] {
            key = rest == "Space" ? " " : String(rest)
            (code, number) = (String(rest), named.number)
            text = modifiers & 7 == 0 ? named.text : ""
            return
        }
        guard rest.count == 1, let character = rest.first else {
            throw BrowserError(description: "there is no key \(name)")
        }
        key = String(rest)
        (code, number) = Self.code(of: character)
        text = modifiers & 7 == 0 ? key : ""
    }

    func event(isDown: Bool) -> [String: PageValue] {
        var event: [String: PageValue] = [
            "type": !isDown ? "keyUp" : text.isEmpty ? "rawKeyDown" : "keyDown",
            "key": .string(key), "code": .string(code), "windowsVirtualKeyCode": .number(Double(number)),
            "modifiers": .number(Double(modifiers)),
        ]
        if isDown, !text.isEmpty { event["text"] = .string(text) }
        return event
    }

    private static func code(of character: Character) -> (String, Int) {
        if character == " " { return ("Space", 32) }
        guard character.isASCII, let value = character.uppercased().utf8.first else { return ("", 0) }
        if character.isLetter { return ("Key\(character.uppercased())", Int(value)) }
        return character.isNumber ? ("Digit\(character)", Int(value)) : ("", 0)
    }

    private static let modifiers = [("Alt+", 1), ("Control+", 2), ("Meta+", 4), ("Shift+", 8)]

    private static let named: [String: (number: Int, text: String)] = [
        "Backspace": (8, ""), "Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), "Space": (32, " "),
        "PageUp": (33, ""), "PageDown": (34, ""), "End": (35, ""), "Home": (36, ""), "ArrowLeft": (37, ""),
        "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, ""), "Delete": (46, ""),
    ]
}
