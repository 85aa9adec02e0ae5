import Foundation
import RichPush
import Testing

/// What iOS hands over as `userInfo` is read as the JSON that it was.
struct UserInfoTests {
    private func read(_ json: String) throws -> PayloadValue {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return PayloadValue(userInfo: try #require(object as? [String: Any]))
    }

    @Test func `Booleans and numbers are told apart`() throws {
        let value = try read(
            #"{"yes": true, "no": false, "one": 1, "zero": 0, "half": 0.5, "most": 18446744073709551615}"#)
        #expect(value["yes"] == .bool(true) && value["no"] == .bool(false))
        #expect(value["one"] == .number("1") && value["zero"] == .number("0"))
        #expect(value["half"] == .number("0.5"))
        #expect(value["most"] == .number("18446744073709551615"))
    }

    @Test func `They are in dictionaries that programs make, too`() {
        let value = PayloadValue(userInfo: [
            "yes": true, "one": 1, "boxed": NSNumber(value: true), "number": NSNumber(value: 1),
            "float": NSNumber(value: 1.5), "int8": NSNumber(value: Int32(7)),
        ])
        #expect(value["yes"] == .bool(true) && value["boxed"] == .bool(true))
        #expect(value["one"] == .number("1") && value["number"] == .number("1") && value["int8"] == .number("7"))
        #expect(value["float"] == .number("1.5"))
    }

    @Test func `Nothing, text, lists and dictionaries keep their places`() throws {
        let value = try read(#"{"b": [1, null, {"c": "x"}], "a": null}"#)
        #expect(
            value
                == .object([
                    PayloadMember("a", .null),
                    PayloadMember("b", .array([.number("1"), .null, .object([PayloadMember("c", .string("x"))])])),
                ]))
    }

    @Test func `What JSON has no word for is left out`() {
        let value = PayloadValue(userInfo: [
            "date": Date(), "data": Data([1]), "nan": Double.nan, "infinite": Double.infinity, 7: "a key",
            "text": "kept",
            "list": [Date(), 1],
        ])
        #expect(
            value == .object([PayloadMember("list", .array([.number("1")])), PayloadMember("text", .string("kept"))]))
    }

    @Test func `What lies too deep is left out`() {
        var nested: Any = "deep"
        for _ in 0..<1_000 { nested = ["a": nested] }
        var value: PayloadValue? = PayloadValue(userInfo: ["a": nested])
        var depth = 0
        while let next = value?["a"] { (value, depth) = (next, depth + 1) }
        #expect(depth == Limits.payloadDepthMax - 1)
    }
}
