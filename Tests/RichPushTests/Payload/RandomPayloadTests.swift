import RichPush
import Testing

/// Random documents and random edits, the same ones every time.
struct RandomPayloadTests {
    @Test func `What is spelled at random is read as it was meant`() throws {
        for seed in 0..<500 as Range<UInt64> {
            var random = RandomPayload(seed: seed)
            let value = random.object()
            let text = RandomPayload.spelled(value, &random)
            let document = try PayloadDocument(Array(text.utf8))
            #expect(document.value == value, "seed \(seed)")
            #expect(document.bytes == Array(text.utf8), "seed \(seed)")
            #expect(document.compacted().value == value, "seed \(seed)")
        }
    }

    @Test func `Edits of the bytes say what the same edits of the value say`() throws {
        for seed in 0..<1_000 as Range<UInt64> {
            var random = RandomPayload(seed: seed)
            let value = random.object()
            var document = try PayloadDocument(Array(RandomPayload.spelled(value, &random).utf8))
            var model = EditedModel(document.value)
            for _ in 0..<4 {
                let edit = random.edit(of: document.value)
                let before = document
                do { try document.apply([edit]) } catch {
                    // A new key may be there already: that is refused, and nothing changes.
                    #expect(error.code == .payloadInvalid && error.message.contains("twice"), "seed \(seed): \(error)")
                    #expect(document == before)
                    continue
                }
                model.apply(edit)
                #expect(EditedModel(document.value) == model, "seed \(seed), \(edit)")
                #expect(try PayloadDocument(document.bytes) == document, "seed \(seed)")
            }
        }
    }

    @Test func `An edit leaves the bytes before and behind its place alone`() throws {
        for seed in 0..<500 as Range<UInt64> {
            var random = RandomPayload(seed: seed)
            let text = RandomPayload.spelled(random.object(), &random)
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
