import AttachPrepModel
import PushPayload
import RichPush
import Testing

/// Malicious JSON is rejected, or processed in a bounded number of steps.
struct HostileJSONTests {
    private func rejection(_ text: String) -> PayloadError? {
        #expect(throws: PayloadError.self) { try PayloadDocument(Array(text.utf8)) }
    }

    private func repeated(_ part: String, _ count: Int) -> String { String(repeating: part, count: count) }

    @Test func `A payload over the size limit is rejected`() {
        let error = rejection("{\"a\":\"\(repeated("x", 65_536))\"}")
        #expect(error?.code == .payloadTooLarge)
        #expect(error?.message.contains("65,544 bytes, over the limit of 65,536") == true)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func `Nesting deeper than the limit is rejected`(opening: String) {
        #expect(
            rejection("{\"a\":" + repeated(opening, 60_000 / opening.utf8.count))?.message.hasPrefix(
                "The payload is nested more than 64 levels deep at line 1, column ") == true)
        let fitting = "{\"a\":" + repeated("[", 63) + repeated("]", 63) + "}"
        #expect(throws: Never.self) { try PayloadDocument(Array(fitting.utf8)) }
        #expect(rejection("{\"a\":" + repeated("[", 64) + repeated("]", 64) + "}") != nil)
    }

    @Test func `Thousands of keys and elements can be read and edited`() throws {
        let members = (0..<4_500).map { "\"\($0)\":\($0)" }.joined(separator: ",")
        var document = try PayloadDocument(Array("{\(members)}".utf8))
        try document.apply([.remove(PayloadPath([.key("3000")])), .replace(PayloadPath([.key("4499")]), .null)])
        #expect(document.value.members?.count == 4_499)
        #expect(document.value["4499"] == .null)
        let elements = try PayloadDocument(Array("{\"a\":[\(repeated("1,", 32_000))1]}".utf8))
        #expect(elements.value["a"]?.elements?.count == 32_001)
    }

    @Test(arguments: ["\\u0041", "\\\\", "\\ud83d\\ude00", "\\u0000", "é", "\u{10FFFF}"])
    func `A long string of escapes or wide characters is read`(part: String) throws {
        let text = "{\"a\":\"\(repeated(part, 60_000 / part.utf8.count))\",\"attach\":\"u\"}"
        var document = try PayloadDocument(Array(text.utf8))
        try document.apply([.replace(PayloadPath([.key("attach")]), .string("v"))])
        #expect(document.bytes == Array(text.replacing("\"u\"", with: "\"v\"").utf8))
    }

    @Test func `Strings whose comparison takes quadratic time are rejected`() throws {
        let marks = (0..<31).map { $0 % 2 == 0 ? "\u{301}" : "\u{323}" }.joined()
        for text in ["{\"\(marks)\":1}", "{\"a\":\"b\(marks)\"}", "{\"a\":\"\(repeated("\\u0301", 31))\"}"] {
            #expect(rejection(text)?.message.contains("has a string with more than 30 combining marks") == true)
        }
        let fitting = (0..<100).map { _ in "a" + marks.unicodeScalars.prefix(30).map(String.init).joined() }
        #expect(throws: Never.self) { try PayloadDocument(Array("{\"a\":\"\(fitting.joined())\"}".utf8)) }
    }

    @Test func `A number of more than 100 characters is rejected`() {
        #expect(rejection("{\"a\":\(repeated("1", 101))}")?.message.contains("a number of more than 100") == true)
        #expect(throws: Never.self) { try PayloadDocument(Array("{\"a\":\(repeated("1", 100))}".utf8)) }
    }

    @Test(arguments: [
        "\"\\", "{\"a\":\"\\u12", "{\"a\":1e", "{\"a\":-", "\u{0}", "{}\u{0}", "{\"a\":1}}", "{\"a\":tru",
        "{\"a\":truee}",
        "{\"a\":0x10}", "{\"a\":1_000}", "{\"a\":00}", "{\"a\":-01}", "{\"a\":Infinity}", "{\"a\":-Infinity}",
        "{\"a\"::1}",
        "{\"a\":1,,\"b\":2}", "{\"a\":[,1]}", "{\"a\":[1,,2]}", "{a:1}", "{1:1}", "{\"a\":\u{A0}1}",
        "{\"a\":\u{2028}1}",
        "{\"a\":\"\\U0041\"}", "{\"a\":\"\\u00zz\"}", "{\"a\":\"\\u00é\"}", "{\"a\":1}/**/", "({})",
        "{\"a\":\"b\"\"c\"}",
        "{\"a\":\"\\ud83d\\u\"}", "{\"a\":\"\\ud83d", "{\"a\":１}",
    ])
    func `Syntax that lenient parsers accept is rejected`(text: String) {
        #expect(rejection(text)?.code == .payloadInvalid)
    }

    @Test func `A payload truncated at any byte is rejected`() throws {
        let text = #"{"a":[1.5e-3,"\ud83d\ude00é",{"b":null,"c":[true,false]}],"d":{}}"#
        #expect(throws: Never.self) { try PayloadDocument(Array(text.utf8)) }
        for count in 0..<text.utf8.count {
            #expect(throws: PayloadError.self) { try PayloadDocument(Array(text.utf8.prefix(count))) }
        }
    }

    @Test func `A payload with any changed byte is rejected or preserved by writing`() throws {
        let text = Array(#"{"a":[1.5e-3,"\ud83d\ude00é",{"b":null}],"d":{}}"#.utf8)
        for index in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[index] = byte
                guard let document = try? PayloadDocument(changed) else { continue }
                #expect(document.bytes == changed)
                #expect(document.compacted().value == document.value)
            }
        }
    }

    @Test func `JSON nested in strings is parsed no deeper than the dialect's path`() throws {
        var text = "{}"
        for _ in 0..<12 {
            text = "{\"krt_attributes\":\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"}"
        }
        #expect(text.utf8.count < 65_536)
        let document = try PayloadDocument(Array(text.utf8))
        #expect(throws: PayloadError.self) { try PayloadReader.media(in: document.value) }
    }

    @Test func `Ten failed media in the largest payload are removed before the size check`() throws {
        let media = (0..<10).map { "{\"url\":\"https://c/\($0)\",\"id\":\"\($0)\"}" }.joined(separator: ",")
        let filler = repeated("[],", 20_000)
        let text = "{\"_wp\":{\"attachments\":[\(media)]},\"z\":[\(filler)0]}"
        let error = #expect(throws: PayloadError.self) {
            try RewrittenPayload(text, Array(repeating: PreparedSample.failed, count: 10))
        }
        #expect(error?.code == .payloadTooLarge)
    }

    @Test func `An impossible time and crop are omitted`() throws {
        let written = try RewrittenPayload(
            #"{"notifee_options":{"ios":{"attachments":[{"url":"clip.mp4","thumbnailTime":1e300,"#
                + #""thumbnailClippingRect":{"x":-1e400,"y":0,"width":1,"height":1}}]}}}"#, [.untouched])
        #expect(try written.value["attachprep"]?["attachments"]?[0]?["options"] == nil)
    }
}
