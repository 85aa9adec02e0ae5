import AttachPrepModel
import MediaTypes
import PushPayload
import Testing

/// Edits change only the values at their paths; all other bytes stay the same.
struct PayloadEditTests {
    private func edited(_ text: String, _ edits: PayloadEdit...) throws -> String {
        var document = try PayloadDocument(Array(text.utf8))
        try document.apply(edits)
        #expect(try PayloadDocument(document.bytes).value == document.value)
        return String(decoding: document.bytes, as: UTF8.self)
    }

    private func path(_ steps: PayloadPath.Step...) -> PayloadPath { PayloadPath(steps) }

    @Test func `Replacing a value preserves the whitespace, numbers and escapes around it`() throws {
        let text = "\t{ \"n\" : [1.0, 1e3 ,-0],\r\n\"u\" :\"old\" , \"\\u0061\":\"\\u00e9\\/\" }\n"
        #expect(
            try edited(text, .replace(path(.key("u")), .string("https://n/é\"\\\u{1}")))
                == text.replacing("old", with: "https://n/é\\\"\\\\\\u0001")
        )
        #expect(
            try edited(text, .replace(path(.key("n"), .index(1)), .number("2.50")))
                == text.replacing("1e3", with: "2.50"))
    }

    @Test func `A new value escapes slashes as the old value did`() throws {
        #expect(
            try edited(#"{"a":"https:\/\/o","b":"https://o"}"#, .replace(path(.key("a")), .string("https://n/")))
                == #"{"a":"https:\/\/n\/","b":"https://o"}"#)
    }

    @Test func `A renamed member keeps its position`() throws {
        #expect(
            try edited(#"{ "mo\u0076ie" : 1 , "b":2}"#, .rename(path(.key("movie")), to: "image"))
                == #"{ "image" : 1 , "b":2}"#)
    }

    @Test(
        arguments: [
            (#"{"a":1,"b":2,"c":3}"#, "a", #"{"b":2,"c":3}"#),
            (#"{"a":1,"b":2,"c":3}"#, "b", #"{"a":1,"c":3}"#),
            (#"{"a":1,"b":2,"c":3}"#, "c", #"{"a":1,"b":2}"#),
            (#"{ "a":1 }"#, "a", "{}"),
            ("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", "{\n  \"b\": 2\n}\n"),
            ("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", "{\n  \"a\": 1\n}\n"),
            ("{\r\n\t\"a\": {},\r\n\t\"b\": [ ] ,\r\n\t\"c\": 3\r\n}", "b", "{\r\n\t\"a\": {} ,\r\n\t\"c\": 3\r\n}"),
        ])
    func `Removing a member removes its comma`(text: String, key: String, result: String) throws {
        #expect(try edited(text, .remove(path(.key(key)))) == result)
    }

    @Test func `Successive removals use the indices after the previous removal`() throws {
        #expect(
            try edited(
                "{\"a\": [1, [2], {\"b\": 3}]}", .remove(path(.key("a"), .index(0))),
                .remove(path(.key("a"), .index(1), .key("b"))), .remove(path(.key("a"), .index(0))))
                == "{\"a\": [{}]}")
    }

    @Test(
        arguments: [
            (#"{"a":1}"#, #"{"a":1,"n":{"x":[1,"y"],"z":{}}}"#),
            (#"{"a": 1}"#, #"{"a": 1, "n": {"x": [1, "y"], "z": {}}}"#),
            (#"{ "a" : 1 }"#, #"{ "a" : 1, "n" : {"x" : [1, "y"], "z" : {}} }"#),
            (#"{"a":1 , "b":2}"#, #"{"a":1 , "b":2 , "n":{"x":[1,"y"],"z":{}}}"#),
            ("{}", #"{"n":{"x":[1,"y"],"z":{}}}"#),
            ("{ \n}", #"{"n":{"x":[1,"y"],"z":{}}}"#),
            (
                "{\n  \"a\": 1\n}\n",
                "{\n  \"a\": 1,\n  \"n\": {\n    \"x\": [\n      1,\n      \"y\"\n    ],\n    \"z\": {}\n  }\n}\n"
            ),
            (
                "{\r\n\t\"a\": 1,\r\n\t\"b\":2\r\n}",
                "{\r\n\t\"a\": 1,\r\n\t\"b\":2,\r\n\t\"n\":{\r\n\t\t\"x\":[\r\n\t\t\t1,\r\n\t\t\t\"y\"\r\n\t\t],"
                    + "\r\n\t\t\"z\":{}\r\n\t}\r\n}"
            ),
        ])
    func `A new member has the layout of its siblings`(text: String, result: String) throws {
        let value = PayloadValue.object([
            PayloadMember("x", .array([.number("1"), .string("y")])), PayloadMember("z", .object([])),
        ])
        #expect(try edited(text, .set(key: "n", value, in: PayloadPath())) == result)
    }

    @Test func `Setting an existing member keeps its position`() throws {
        #expect(
            try edited(#"{"n": 1, "b": 2}"#, .set(key: "n", .object([PayloadMember("c", .null)]), in: PayloadPath()))
                == #"{"n": {"c": null}, "b": 2}"#)
    }

    @Test func `A new nested member has the indentation of its siblings`() throws {
        let text = "{\n    \"a\": {\n        \"b\": 1\n    }\n}"
        #expect(
            try edited(text, .set(key: "c", .array([.null]), in: path(.key("a"))))
                == "{\n    \"a\": {\n        \"b\": 1,\n        \"c\": [\n            null\n        ]\n    }\n}")
    }

    @Test func `Editing JSON inside a string preserves the rest of the string`() throws {
        let text = #"{"k": "\u007b \"u\":\"old\" , \u0022t\u0022: \"\\u00e9\\ud83d\\ude00\", \"n\":1.0}", "z":1}"#
        #expect(
            try edited(text, .replace(path(.key("k"), .text, .key("u")), .string("https://n/\"")))
                == text.replacing("old", with: #"https://n/\\\""#))
        #expect(
            try edited(text, .remove(path(.key("k"), .text, .key("u"))))
                == #"{"k": "\u007b \u0022t\u0022: \"\\u00e9\\ud83d\\ude00\", \"n\":1.0}", "z":1}"#)
        #expect(
            try edited(text, .set(key: "m", .string("é"), in: path(.key("k"), .text)))
                == text.replacing(#":1.0}"#, with: #":1.0, \"m\":\"é\"}"#))
    }

    @Test func `JSON nested in two strings keeps PHP's escaped slashes`() throws {
        let inner = #"{"u":"https:\/\/o"}"#
        let middle = #"["{\"u\":\"https:\\\/\\\/o\"}"]"#
        let outer = #"{"k":"[\"{\\\"u\\\":\\\"https:\\\\\\\/\\\\\\\/o\\\"}\"]"}"#
        let document = try PayloadDocument(Array(outer.utf8))
        #expect(document.value["k"]?.string == middle)
        #expect(try PayloadValue(json: Array(middle.utf8))[0]?.string == inner)
        #expect(
            try edited(
                outer, .replace(path(.key("k"), .text, .index(0), .text, .key("u")), .string("https://n")))
                == outer.replacing(#"\/o"#, with: #"\/n"#))
    }

    @Test func `Escaped characters before an edit do not shift its position`() throws {
        let text = #"{"k":"{\"😀\\u00e9\u00e9\ud83d\ude00\\n\":1,\"u\":\"o\"}"}"#
        #expect(
            try edited(text, .replace(path(.key("k"), .text, .key("u")), .string("n")))
                == text.replacing(#"\"o\""#, with: #"\"n\""#))
    }

    @Test(
        arguments: [
            PayloadEdit.remove(PayloadPath()), .remove(PayloadPath([.key("b")])),
            .replace(PayloadPath([.key("a"), .index(1)]), .null),
            .rename(PayloadPath([.key("a"), .index(0)]), to: "x"),
            .set(key: "x", .null, in: PayloadPath([.key("a")])), .remove(PayloadPath([.key("s"), .text])),
            .remove(PayloadPath([.key("a"), .text, .key("a")])), .replace(PayloadPath([.key("a"), .key("0")]), .null),
        ])
    func `An edit at a missing path is an internal error and changes nothing`(edit: PayloadEdit) throws {
        let text = #"{"a":[1],"s":"{}"}"#
        var document = try PayloadDocument(Array(text.utf8))
        let error = #expect(throws: PayloadError.self) {
            try document.apply([.replace(PayloadPath([.key("s")]), .string("{}")), edit])
        }
        #expect(error?.code == .internal)
        #expect(document.bytes == Array(text.utf8))
    }
}
