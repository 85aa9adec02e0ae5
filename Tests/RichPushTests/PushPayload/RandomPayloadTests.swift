import MediaTypes
import PushPayload
import TestSupport
import Testing

/// Random documents and random edits, with fixed seeds.
struct RandomPayloadTests {
    @Test func `A randomly serialized payload is read as the original value`() throws {
        for seed in 0..<500 as Range<UInt64> {
            var random = RandomPayload(seed: seed)
            let value = random.object()
            let text = RandomPayload.serialized(value, &random)
            let document = try PayloadDocument(Array(text.utf8))
            #expect(document.value == value, "seed \(seed)")
            #expect(document.bytes == Array(text.utf8), "seed \(seed)")
            #expect(document.compacted().value == value, "seed \(seed)")
        }
    }

    @Test func `Edits of the bytes give the same result as edits of the value`() throws {
        for seed in 0..<1_000 as Range<UInt64> {
            var random = RandomPayload(seed: seed)
            let value = random.object()
            var document = try PayloadDocument(Array(RandomPayload.serialized(value, &random).utf8))
            var reference = ReferenceDocument(document.value)
            for _ in 0..<4 {
                let edit = random.edit(of: document.value)
                let before = document
                do { try document.apply([edit]) } catch {
                    // A new key may exist already: the edit is rejected, and nothing changes.
                    #expect(error.code == .payloadInvalid && error.message.contains("twice"), "seed \(seed): \(error)")
                    #expect(document == before)
                    continue
                }
                reference.apply(edit)
                #expect(ReferenceDocument(document.value) == reference, "seed \(seed), \(edit)")
                #expect(try PayloadDocument(document.bytes) == document, "seed \(seed)")
            }
        }
    }

    @Test func `An edit preserves the bytes before and after it`() throws {
        for seed in 0..<500 as Range<UInt64> {
            var random = RandomPayload(seed: seed)
            let text = RandomPayload.serialized(random.object(), &random)
            let mark = Int.random(in: 0...9, using: &random.numbers)
            let payload =
                "{\"before\":\(text),\"held\":\"{\\\"k\\\":\\u005b\(mark),{\\\"u\\\":1}]}\" , \"behind\":\(text)}"
            var document = try PayloadDocument(Array(payload.utf8))
            let inner = PayloadPath([.key("held"), .text, .key("k"), .index(1), .key("u")])
            try document.apply([
                .replace(inner, .number("2.0")), .remove(PayloadPath([.key("held"), .text, .key("k"), .index(0)])),
            ])
            let after = "{\"before\":\(text),\"held\":\"{\\\"k\\\":\\u005b{\\\"u\\\":2.0}]}\" , \"behind\":\(text)}"
            #expect(String(decoding: document.bytes, as: UTF8.self) == after, "seed \(seed)")
        }
    }
}

/// Random payloads, random serializations of them, and random edits.
struct RandomPayload {
    var numbers: SeededGenerator

    private static let texts = [
        "", "a", "aps", "é", "😀", "/", "\"", "\\", "\n", "\u{1}", "https://c/a.jpg", "e\u{301}", "\u{7F}", "[1]",
        "attachprep",
    ]
    private static let numberLiterals = [
        "0", "-0", "1", "1.0", "1e3", "-1E+2", "0.25", "12345678901234567890.123", "1e400",
    ]

    init(seed: UInt64) {
        numbers = SeededGenerator(seed)
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
        case 2: .number(Self.numberLiterals.randomElement(using: &numbers) ?? "0")
        case 3, 4: .string(text())
        case 5: .string(RandomPayload.serialized(object(depth: depth + 1), &self))
        case 6: .array((0..<Int.random(in: 0...4, using: &numbers)).map { _ in value(depth: depth + 1) })
        default: object(depth: depth)
        }
    }

    private mutating func text() -> String {
        (0..<Int.random(in: 1...3, using: &numbers)).map { _ in Self.texts.randomElement(using: &numbers) ?? "" }
            .joined()
    }

    /// Serializes a value with random whitespace and escapes.
    static func serialized(_ value: PayloadValue, _ random: inout RandomPayload) -> String {
        switch value {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .number(let text): return text
        case .string(let text): return random.quoted(text)
        case .array(let elements):
            let parts = elements.map { random.space() + serialized($0, &random) + random.space() }
            return "[\(parts.isEmpty ? random.space() : parts.joined(separator: ","))]"
        case .object(let members):
            let parts = members.map {
                random.space() + random.quoted($0.key) + random.space() + ":" + random.space()
                    + serialized($0.value, &random) + random.space()
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

    /// A random edit of an existing value, often inside JSON in a string.
    mutating func edit(of value: PayloadValue) -> PayloadEdit {
        var (path, current) = (PayloadPath(), value)
        while path.steps.isEmpty || Int.random(in: 0...2, using: &numbers) > 0 {
            guard let (step, next) = child(of: current) else { break }
            path = path.appending(step)
            current = next
        }
        switch Int.random(in: 0...3, using: &numbers) {
        case 0 where current.members != nil: return .set(key: text() + "n", self.value(depth: 3), in: path)
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

/// A reference implementation of edits, on values instead of bytes.
///
/// JSON inside strings is parsed, so that two serializations of it compare as equal.
indirect enum ReferenceDocument: Equatable {
    case object([Member])
    case array([ReferenceDocument])
    case embedded(ReferenceDocument)
    case scalar(PayloadValue)

    struct Member: Equatable {
        var key: [UInt8]
        var value: ReferenceDocument
    }

    init(_ value: PayloadValue) {
        switch value {
        case .object(let members):
            self = .object(members.map { Member(key: Array($0.key.utf8), value: ReferenceDocument($0.value)) })
        case .array(let elements): self = .array(elements.map(ReferenceDocument.init))
        case .string(let text):
            let embedded = try? PayloadValue(json: Array(text.utf8))
            self = embedded.map { .embedded(ReferenceDocument($0)) } ?? .scalar(value)
        case .number, .bool, .null: self = .scalar(value)
        }
    }

    mutating func apply(_ edit: PayloadEdit) {
        switch edit {
        case .replace(let path, let value): change(path.steps[...]) { $0 = ReferenceDocument(value) }
        case .rename(let path, let key):
            change(path.steps.dropLast()) { $0.rename(path.steps.last, to: key) }
        case .remove(let path): change(path.steps.dropLast()) { $0.remove(path.steps.last) }
        case .set(let key, let value, let path): change(path.steps[...]) { $0.set(key, ReferenceDocument(value)) }
        }
    }

    private mutating func change(_ steps: ArraySlice<PayloadPath.Step>, _ body: (inout ReferenceDocument) -> Void) {
        guard let step = steps.first else { return body(&self) }
        switch (self, step) {
        case (.object(var members), .key(let key)):
            for index in members.indices where members[index].key == Array(key.utf8) {
                members[index].value.change(steps.dropFirst(), body)
            }
            self = .object(members)
        case (.array(var elements), .index(let index)):
            elements[index].change(steps.dropFirst(), body)
            self = .array(elements)
        case (.embedded(var inner), .text):
            inner.change(steps.dropFirst(), body)
            self = .embedded(inner)
        default: break
        }
    }

    private mutating func rename(_ step: PayloadPath.Step?, to key: String) {
        guard case .object(var members) = self, case .key(let old)? = step else { return }
        for index in members.indices where members[index].key == Array(old.utf8) {
            members[index].key = Array(key.utf8)
        }
        self = .object(members)
    }

    private mutating func remove(_ step: PayloadPath.Step?) {
        switch (self, step) {
        case (.object(let members), .key(let key)?): self = .object(members.filter { $0.key != Array(key.utf8) })
        case (.array(var elements), .index(let index)?):
            elements.remove(at: index)
            self = .array(elements)
        default: break
        }
    }

    private mutating func set(_ key: String, _ value: ReferenceDocument) {
        guard case .object(var members) = self else { return }
        if let index = members.firstIndex(where: { $0.key == Array(key.utf8) }) {
            members[index].value = value
        } else {
            members.append(Member(key: Array(key.utf8), value: value))
        }
        self = .object(members)
    }
}
