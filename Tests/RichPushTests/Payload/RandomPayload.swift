import RichPush
import TestSupport

/// A payload of random values in a random spelling, and random edits of it.
struct RandomPayload {
    var numbers: SeededNumbers

    private static let texts = [
        "", "a", "aps", "é", "😀", "/", "\"", "\\", "\n", "\u{1}", "https://c/a.jpg", "e\u{301}", "\u{7F}", "[1]",
        "attachprep",
    ]
    private static let spellings = ["0", "-0", "1", "1.0", "1e3", "-1E+2", "0.25", "12345678901234567890.123", "1e400"]

    init(seed: UInt64) {
        numbers = SeededNumbers(seed)
    }

    mutating func object() -> PayloadValue { object(depth: 0) }

    private mutating func object(depth: Int) -> PayloadValue {
        var keys: Set<String> = []
        let members = (0..<Int.random(in: 0...4, using: &numbers)).compactMap { _ -> PayloadMember? in
            let key = text() + "\(Int.random(in: 0...9, using: &numbers))"
            return keys.insert(key).inserted ? PayloadMember(key, value(depth: depth + 1)) : nil
        }
        return .object(members)
    }

    mutating func value(depth: Int) -> PayloadValue {
        switch Int.random(in: 0...(depth < 4 ? 8 : 4), using: &numbers) {
        case 0: .null
        case 1: .bool(.random(using: &numbers))
        case 2: .number(Self.spellings.randomElement(using: &numbers) ?? "0")
        case 3, 4: .string(text())
        case 5: .string(RandomPayload.spelled(object(depth: depth + 1), &self))
        case 6: .array((0..<Int.random(in: 0...4, using: &numbers)).map { _ in value(depth: depth + 1) })
        default: object(depth: depth)
        }
    }

    private mutating func text() -> String {
        (0..<Int.random(in: 1...3, using: &numbers)).map { _ in Self.texts.randomElement(using: &numbers) ?? "" }
            .joined()
    }

    /// With whitespace and escapes at random.
    static func spelled(_ value: PayloadValue, _ random: inout RandomPayload) -> String {
        switch value {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .number(let text): return text
        case .string(let text): return random.quoted(text)
        case .array(let elements):
            let parts = elements.map { random.space() + spelled($0, &random) + random.space() }
            return "[\(parts.isEmpty ? random.space() : parts.joined(separator: ","))]"
        case .object(let members):
            let parts = members.map {
                random.space() + random.quoted($0.key) + random.space() + ":" + random.space()
                    + spelled($0.value, &random) + random.space()
            }
            return "{\(parts.isEmpty ? random.space() : parts.joined(separator: ","))}"
        }
    }

    private mutating func space() -> String {
        ["", "", "", " ", "\n  ", "\r\n\t"].randomElement(using: &numbers) ?? ""
    }

    private mutating func quoted(_ text: String) -> String {
        let body = text.unicodeScalars.map { scalar -> String in
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            guard mustEscape || Int.random(in: 0...4, using: &numbers) == 0 else { return String(scalar) }
            if scalar == "/" { return "\\/" }
            if scalar == "\"" || scalar == "\\", Bool.random(using: &numbers) { return "\\\(scalar)" }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16, uppercase: Bool.random(using: &numbers))
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
        return "\"\(body.joined())\""
    }

    /// An edit of what is there, half of the time inside JSON that a string holds.
    mutating func edit(of value: PayloadValue) -> PayloadEdit {
        var (path, here) = (PayloadPath(), value)
        while path.steps.isEmpty || Int.random(in: 0...2, using: &numbers) > 0 {
            guard let (step, next) = child(of: here) else { break }
            path = path.appending(step)
            here = next
        }
        switch Int.random(in: 0...3, using: &numbers) {
        case 0 where here.members != nil: return .set(key: text() + "n", self.value(depth: 3), in: path)
        case 1 where path.canBeRemoved: return .remove(path)
        case 2 where path.canBeRenamed: return .rename(path, to: text() + "new")
        default: return path.steps.isEmpty ? .set(key: "k", .null, in: path) : .replace(path, self.value(depth: 3))
        }
    }

    private mutating func child(of value: PayloadValue) -> (PayloadPath.Step, PayloadValue)? {
        switch value {
        case .object(let members): return members.randomElement(using: &numbers).map { (.key($0.key), $0.value) }
        case .array(let elements):
            return elements.indices.randomElement(using: &numbers).map { (.index($0), elements[$0]) }
        case .string(let text): return (try? PayloadValue(json: Array(text.utf8))).map { (.text, $0) }
        case .number, .bool, .null: return nil
        }
    }
}

extension PayloadPath {
    fileprivate var canBeRemoved: Bool { steps.last.map { $0 != .text } ?? false }

    fileprivate var canBeRenamed: Bool {
        if case .key = steps.last { true } else { false }
    }
}
