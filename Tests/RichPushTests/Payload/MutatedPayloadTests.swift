import PushPayload
import RichPush
import TestSupport
import Testing

/// Payload reading with mutated, huge, ambiguous and deeply nested payloads.
struct MutatedPayloadTests {
    /// Rounds per sample; each makes one to three mutations.
    static let rounds = 60

    @Test(arguments: DialectSample.all.indices)
    func `Mutations of a payload neither crash reading nor break its result`(
        index: Int
    ) throws {
        let sample = DialectSample.all[index]
        var random = SeededGenerator(UInt64(index) + 1)
        let original = try sample.payload
        for round in 0..<Self.rounds {
            var value = original
            for _ in 0...Int.random(in: 0...2, using: &random) { value = mutated(value, using: &random) }
            let dialect = round.isMultiple(of: 2) ? nil : try PayloadDialect.named(sample.dialect)
            check(value, dialect)
        }
    }

    @Test func `Arrays of thousands of elements are read in one pass`() throws {
        let unusual: [PayloadValue] = [
            .string(""), .null, .number("1e999"), .object([]), .string("https://c.example/a.jpg"),
        ]
        let many = PayloadValue.array((0..<20_000).map { unusual[$0 % unusual.count] })
        let objects = PayloadValue.array(
            (0..<20_000).map { .object([PayloadMember("url", unusual[$0 % unusual.count])]) })
        for (key, list) in [("att", many), ("attachments", objects), ("attach", many), ("a", objects)] {
            check(.object([PayloadMember(key, list)]), nil)
            check(.object([PayloadMember(key, list)]), try .custom(mediaKey: key))
        }
        check(.object((0..<20_000).map { PayloadMember("k\($0)", .string("https://c.example/a.jpg")) }), nil)
        let members = (0..<20_000).map { PayloadMember("k\($0)", .string("https://c.example/a.jpg")) }
        check(.object([PayloadMember("att", .object(members))]), nil)
    }

    @Test func `Ambiguous dotted keys are read in bounded time`() throws {
        var value = PayloadValue.string("https://c.example/a.jpg")
        for depth in 0..<60 {
            let beside = depth < 8 ? value : .null
            value = .object([PayloadMember("a", value), PayloadMember("a.a", beside), PayloadMember("a.a.a", beside)])
        }
        check(value, try .custom(mediaKey: Array(repeating: "a", count: 60).joined(separator: ".")))
        check(value, try .custom(mediaKey: Array(repeating: "a", count: 250).joined(separator: ".")))
    }

    @Test func `Deep nesting does not crash reading`() throws {
        var value = PayloadValue.string("https://c.example/a.jpg")
        for _ in 0..<2_000 { value = .object([PayloadMember("attach", value)]) }
        check(value, nil)
    }

    /// Checks the invariants of every result: existing paths, and not too many.
    private func check(_ value: PayloadValue, _ dialect: PayloadDialect?) {
        let media = try? PayloadReader.media(in: value, dialect: dialect)
        _ = PayloadCheck.warnings(for: value, media: media)
        guard let media else { return }
        #expect((1...Limits.payloadMediaMax).contains(media.items.count))
        for item in media.items {
            #expect(self.value(in: value, at: item.path)?.string?.isEmpty == false, "\(item.path)")
            for path in item.fields.values { #expect(self.value(in: value, at: path) != nil, "\(path)") }
            if let time = item.options.thumbnailTime { #expect(time.isFinite && time >= 0) }
        }
    }

    private func value(in value: PayloadValue, at path: PayloadPath) -> PayloadValue? {
        path.steps.reduce(value) { (value: PayloadValue?, step) in
            switch step {
            case .key(let key): value?[key]
            case .index(let index): value?[index]
            case .text: value?.string.flatMap { try? PayloadValue(json: Array($0.utf8)) }
            }
        }
    }

    /// Replaces, removes or duplicates one value.
    private func mutated(_ value: PayloadValue, using random: inout SeededGenerator) -> PayloadValue {
        if Int.random(in: 0..<4, using: &random) == 0 { return unusualValue(value, using: &random) }
        switch value {
        case .object(var members) where !members.isEmpty:
            let index = Int.random(in: members.indices, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: members.remove(at: index)
            case 1: members[index].key = ["", "url", "aps", "type", "image", "att"].randomElement(using: &random) ?? ""
            default: members[index].value = mutated(members[index].value, using: &random)
            }
            return .object(members)
        case .array(var elements) where !elements.isEmpty:
            let index = Int.random(in: elements.indices, using: &random)
            if Bool.random(using: &random) {
                elements += Array(repeating: elements[index], count: 20)
            } else {
                elements[index] = mutated(elements[index], using: &random)
            }
            return .array(elements)
        default: return unusualValue(value, using: &random)
        }
    }

    private func unusualValue(_ value: PayloadValue, using random: inout SeededGenerator) -> PayloadValue {
        let values: [PayloadValue] = [
            .null, .bool(true), .number("1e999"), .number("-0"), .number("1"), .number("-1e-400"), .string(""),
            .string("{}"), .string("[[[["), .string("\u{0}"), .string("http://"), .string("https://é/\u{202E}"),
            .string(String(repeating: "a", count: 5_000)), .string("{\"attachment_url\":5}"), .array([]), .object([]),
            .array([value, value]), .object([PayloadMember("url", value)]), .object([PayloadMember("image", value)]),
        ]
        return values.randomElement(using: &random) ?? .null
    }
}
