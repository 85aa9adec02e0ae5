import MediaTypes
import PushPayload
import Testing

struct PayloadArrayTests {
    private func array(_ text: String) throws -> PayloadArray? { try PayloadArray(Array(text.utf8)) }

    @Test func `Text that does not begin with a bracket is not an array`() throws {
        #expect(try array(#"{"aps":{}}"#) == nil)
        #expect(try array("") == nil)
    }

    @Test func `Replacing messages keeps all other bytes`() throws {
        let array = try #require(try array("\n[ {\"a\" : 1} ,\t{} ]\n"))
        #expect(array.messages.map { String(decoding: array.bytes[$0], as: UTF8.self) } == [#"{"a" : 1}"#, "{}"])
        let replaced = array.replacing(messages: [Array("{1}".utf8), Array("{2}".utf8)])
        #expect(String(decoding: replaced, as: UTF8.self) == "\n[ {1} ,\t{2} ]\n")
        #expect(array.replacing(messages: array.messages.map { Array(array.bytes[$0]) }) == array.bytes)
    }

    @Test(arguments: ["[1]", "[{},null]", #"[{"a":1,"a":2}]"#, "[{}", "[{}] {}"])
    func `An array of anything but objects, and invalid JSON, are rejected`(text: String) {
        let error = #expect(throws: PayloadError.self) { try array(text) }
        #expect(error?.code == .payloadInvalid && error?.message.contains("line 1") == true)
    }

    @Test func `More messages than the limit are rejected`() throws {
        let messages = { (count: Int) in "[" + Array(repeating: "{}", count: count).joined(separator: ",") + "]" }
        #expect(try array(messages(500))?.messages.count == 500)
        let error = #expect(throws: PayloadError.self) { try array(messages(501)) }
        #expect(error?.code == .payloadTooLarge)
    }
}
