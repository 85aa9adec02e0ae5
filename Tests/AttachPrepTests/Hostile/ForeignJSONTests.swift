import Foundation
import MediaTypes
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// JSON from outside is checked before it is decoded: keys that occur twice, and limits.
struct ForeignJSONTests {
    // MARK: Keys that occur twice

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, true), (#"{"a":1,"\u0061":2}"#, true), (#"{"a/":1,"a\/":2}"#, true),
        (#"[1,{"b":{"a":[],"c":1,"a":{}}}]"#, true), (#"{"é":1,"e\u0301":2}"#, true), (#"{"a" : 1 , "a" : 1}"#, true),
        (#"{"a\n":1,"a\t":2}"#, false), (#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#, false),
        (#"{"a":"a","b":"a"}"#, false), (#"["a","a"]"#, false), (#"{"a":1,"A":2}"#, false),
        (#"{"\":1":1,"\":":1}"#, false),
    ]) func `A key that occurs twice in one object is refused, however it is written`(json: String, isRefused: Bool) {
        let sentence = "twice in one object; parsers differ on which one counts, so keep one"
        do {
            try ForeignJSON.check(Array(json.utf8))
            #expect(!isRefused)
        } catch {
            #expect(isRefused && ForeignJSON.problem(error)?.hasSuffix(sentence) == true, "\(error)")
        }
    }

    @Test func `A request says which key occurs twice`() {
        let json = #"{"source": "https://a.example/1", "source": "https://a.example/2"}"#
        let error = #expect(throws: AttachPrepError.self) {
            try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: ""))
        }
        #expect(error?.code == .requestInvalid)
        #expect(
            error?.message
                == "The request has the key \"source\" twice in one object at line 1, column 35; parsers differ on "
                + "which one counts, so keep one.")
    }

    @Test(arguments: [
        (#"{"a":1,}"#, true), ("[1 ,\n]", true), (#"{"a":[1,2],"b":{"c":1, } }"#, true), (#"{"a":",}"}"#, false),
        ("[1,[]]", false), (#"{"a":[],"b":{}}"#, false),
    ]) func `A comma before a closing bracket is refused, as other parsers do`(json: String, isRefused: Bool) {
        let problem: String?
        do {
            try ForeignJSON.check(Array(json.utf8))
            problem = nil
        } catch { problem = ForeignJSON.problem(error) }
        #expect(problem == (isRefused ? "has a comma before a closing bracket; remove the comma" : nil))
    }

    // MARK: Limits before a tree is built

    @Test(arguments: [
        (String(repeating: "[", count: 81), "nested more than 80"),
        ("[" + String(repeating: "1,", count: 100_001), "more than 100000 keys and values"),
        (String(repeating: "1", count: 65), "a number of more than 64"),
        ("[\"a\(String(repeating: "\u{301}", count: 31))\"]", "more than 30 combining marks"),
        ("{\"a\(String(repeating: "\\u0301", count: 31))\":1}", "more than 30 combining marks"),
        ("[\"\(String(repeating: "\\ud834\\udd65", count: 31))\"]", "more than 30 combining marks"),
    ]) func `JSON over a limit is rejected before it is decoded`(json: String, problem: String) {
        let error = #expect(throws: DecodingError.self) { try ForeignJSON.check(Array(json.utf8)) }
        #expect(error.map { "\($0)" }?.contains(problem) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        "Nguye\u{302}\u{303}n", "नमस्ते", "สวัสดีปีใหม่", "مُحَمَّدٌ", "👨‍👩‍👧‍👦",
    ]) func `Text of every language passes unchanged, in keys too`(text: String) throws {
        let read = try ForeignJSON.decode([String: String].self, from: Array("{\"\(text)\":\"\(text)\"}".utf8))
        #expect(read.first.map { Array($0.key.utf8) } == Array(text.utf8))
        #expect(read.first.map { Array($0.value.utf8) } == Array(text.utf8))
    }
}
