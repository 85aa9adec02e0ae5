import AttachPrepModel
import MediaTypes
import PushPayload
import Testing

/// Which payloads are read, and which are rejected with position and remedy.
struct PayloadDocumentTests {
    private func document(_ text: String) throws -> PayloadDocument { try PayloadDocument(Array(text.utf8)) }

    private func rejection(_ bytes: [UInt8]) -> String {
        let error = #expect(throws: PayloadError.self) { try PayloadDocument(bytes) }
        #expect(error?.code == .payloadInvalid)
        return error?.message ?? ""
    }

    @Test func `The order of members, number literals and characters are preserved`() throws {
        let value = try document(
            #"{"b":[1.0,1e3,-0,12345678901234567890.123],"a":{"":null},"é":"\ud83d\ude00\u00e9/\/\n","t":true}"#
        ).value
        #expect(
            value
                == .object([
                    PayloadMember(
                        "b",
                        .array([.number("1.0"), .number("1e3"), .number("-0"), .number("12345678901234567890.123")])),
                    PayloadMember("a", .object([PayloadMember("", .null)])),
                    PayloadMember("é", .string("😀é//\n")),
                    PayloadMember("t", .bool(true)),
                ]))
    }

    @Test(
        arguments: [
            ("", "The payload is empty at line 1, column 1; send a JSON object."),
            (" \n", "The payload is empty at line 2, column 1; send a JSON object."),
            ("[1]", "The payload is an array, not an object, at line 1, column 1; enclose it in { }."),
            ("\"a\"", "The payload is a string, not an object, at line 1, column 1; enclose it in { }."),
            ("{\"a\":1,}", "The payload has a comma before } at line 1, column 8; remove the comma."),
            ("{\"a\":[1,\r\n]}", "The payload has a comma before ] at line 2, column 1; remove the comma."),
            ("{,}", "The payload has no key after { at line 1, column 2; write keys in double quotes."),
            ("{\"a\":1,b:2}", "The payload has no key after , at line 1, column 8; write keys in double quotes."),
            ("{'a':1}", "The payload has a key in single quotes at line 1, column 2; use double quotes."),
            ("{\"a\":'b'}", "The payload has a string in single quotes at line 1, column 6; use double quotes."),
            ("{\n// x\n}", "The payload has a comment at line 2, column 1; remove it, since JSON has no comments."),
            (
                "{\"a\":1 /* x */}",
                "The payload has a comment at line 1, column 8; remove it, since JSON has no comments."
            ),
            ("{\"a\":#\n1}", "The payload has a comment at line 1, column 6; remove it, since JSON has no comments."),
            ("{} # x", "The payload has a comment at line 1, column 4; remove it, since JSON has no comments."),
            (
                "{\"ü\":NaN}",
                "The payload has the word \"NaN\" at line 1, column 6; write a number, since JSON has no such value."
            ),
            (
                "{\"a\":}",
                "The payload has no value at line 1, column 6; "
                    + "write a string, a number, an object, an array, true, false or null."
            ),
            (
                "{\"a\":01}",
                "The payload has a number with a leading zero at line 1, column 6; "
                    + "remove the zero, or write a string."
            ),
            ("{\"a\":-}", "The payload has a minus without a number at line 1, column 7; write digits after it."),
            (
                "{\"a\":1.}",
                "The payload has a number that ends with a decimal point at line 1, column 8; "
                    + "write digits after it."
            ),
            (
                "{\"a\":1e+}",
                "The payload has a number with an empty exponent at line 1, column 9; "
                    + "write digits after the e."
            ),
            (
                "{\"a\":.5}",
                "The payload has a number without a first digit at line 1, column 6; write it as in 0.5."
            ),
            (
                "{\"a\":+1}",
                "The payload has a number without a first digit at line 1, column 6; write it as in 0.5."
            ),
            ("{\"a\" 1}", "The payload has a key without a colon at line 1, column 6; write a colon and a value."),
            ("{\"a\":1 \"b\":2}", "The payload has neither a comma nor } at line 1, column 8; write one of them."),
            ("{\"a\":[1 2]}", "The payload has neither a comma nor ] at line 1, column 9; write one of them."),
            ("{}{}", "The payload has data after its end at line 1, column 3; send exactly one value."),
            ("{\"a\":1", "The payload is truncated at line 1, column 7; send all of it."),
            ("{\"a\"", "The payload is truncated at line 1, column 5; send all of it."),
            ("{\"a\":", "The payload is truncated at line 1, column 6; send all of it."),
            ("{\"a\":[", "The payload is truncated at line 1, column 7; send all of it."),
            ("{\"a", "The payload has an unterminated string at line 1, column 2; close it with a quote."),
            ("{\"a\":\"\\", "The payload is truncated at line 1, column 8; send all of it."),
            (
                "{\"a\":\"\t\"}",
                "The payload has a control character (U+0009) in a string at line 1, column 7; write it as \\t."
            ),
            (
                "{\"a\":\"\u{1F}\"}",
                "The payload has a control character (U+001f) in a string at line 1, column 7; write it as \\u001f."
            ),
            (
                "{\"a\":\"\\x\"}",
                "The payload has an invalid escape at line 1, column 7; "
                    + "write a backslash itself as \\\\."
            ),
            (
                "{\"a\":\"\\u+fff\"}",
                "The payload has a \\u without four hexadecimal digits at line 1, column 7; "
                    + "write a backslash itself as \\\\."
            ),
            (
                "{\"a\":\"\\ud800\"}",
                "The payload has half of a surrogate pair (\\ud800) at line 1, column 7; "
                    + "write both halves, or the character itself."
            ),
            (
                "{\"a\":\"\\udc00\\ud800\"}",
                "The payload has half of a surrogate pair (\\udc00) at line 1, column 7; "
                    + "write both halves, or the character itself."
            ),
            (
                "{\"a\":\"\\ud800\\u0041\"}",
                "The payload has half of a surrogate pair (\\ud800) at line 1, column 7; "
                    + "write both halves, or the character itself."
            ),
            (
                "{\"a\":1,\"b\":{},\"\\u0061\":2}",
                "The payload has the key \"a\" twice in one object at line 1, "
                    + "column 15; parsers differ on which one counts, so keep one."
            ),
            ("\u{FEFF}{}", "The payload has a byte order mark at line 1, column 1; save it as UTF-8 without one."),
        ])
    func `Anything but a strict JSON object is rejected with position and remedy`(text: String, sentence: String) {
        #expect(rejection(Array(text.utf8)) == sentence)
    }

    @Test(
        arguments: [
            [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0xAF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xFF], [0xC3], [0xE2, 0x82],
            [0xE2, 0x82, 0x41],
        ] as [[UInt8]])
    func `Bytes that are not UTF-8 are rejected`(bytes: [UInt8]) {
        let sentence = rejection(Array(#"{"a":"x"#.utf8) + bytes + Array(#""}"#.utf8))
        #expect(sentence == "The payload has a byte that is not UTF-8 at line 1, column 8; save it as UTF-8.")
    }

    @Test func `Characters of every UTF-8 length are read`() throws {
        let text = "\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}"
        #expect(try document("{\"a\":\"\(text)\"}").value["a"]?.string == text)
    }

    @Test func `A payload in UTF-16 is reported as UTF-16`() {
        #expect(rejection([0xFF, 0xFE, 0x7B, 0]).contains("is UTF-16"))
    }

    @Test func `Control characters of a key are replaced and long keys truncated in the error`() {
        let key = #"\u001b[2J"# + String(repeating: "x", count: 100)
        let sentence = rejection(Array("{\"\(key)\":1,\"\(key)\":1}".utf8))
        #expect(sentence.hasPrefix("The payload has the key \"?[2J\(String(repeating: "x", count: 76))…\" twice"))
    }

    @Test func `Compacting removes only whitespace outside strings`() throws {
        let text = "\r\n{ \"a b\" :\t[ 1.0 , \" \\\" x \" , { } ] ,\n\"c\\\\\" : \"  \" }\n"
        let compacted = try document(text).compacted()
        #expect(String(decoding: compacted.bytes, as: UTF8.self) == #"{"a b":[1.0," \" x ",{}],"c\\":"  "}"#)
        #expect(compacted.value == (try document(text)).value)
    }
}
