import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs

@Suite struct ReceiptTokenTests {
    private let key = ReceiptKey.random()
    private let dispatch = DispatchID.make()

    private func code(_ text: String, _ key: ReceiptKey) -> ErrorCode? {
        do {
            _ = try ReceiptToken.dispatch(of: text, key: key)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a token names its dispatch, and is short`() throws {
        let token = ReceiptToken(dispatch, key: key)
        #expect(token.text.utf8.count == ReceiptToken.charactersCount && token.text.utf8.count <= 40)
        #expect(try ReceiptToken.dispatch(of: token.text, key: key) == dispatch)
        #expect(token.text.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") })
    }

    @Test func `names at both ends come back as they were`() throws {
        for bits in [0, 1, UInt64.max, 0x8000_0000_0000_0000, 0x0123_4567_89AB_CDEF] {
            let token = ReceiptToken(DispatchID(bits: bits), key: key)
            #expect(try ReceiptToken.dispatch(of: token.text, key: key).bits == bits)
        }
    }

    @Test func `one changed character anywhere is refused`() {
        let token = Array(ReceiptToken(dispatch, key: key).text.utf8)
        for place in token.indices {
            for other in "AQgw_-9".utf8 where other != token[place] {
                var changed = token
                changed[place] = other
                #expect(code(String(decoding: changed, as: UTF8.self), key) == .requestUnauthorized, "at \(place)")
            }
        }
    }

    @Test func `another key's tokens are refused`() {
        #expect(code(ReceiptToken(dispatch, key: .random()).text, key) == .requestUnauthorized)
    }

    @Test(arguments: ["", "A", String(repeating: "A", count: 34), String(repeating: "é", count: 17), "\u{0}"])
    func `what is no token is refused`(_ text: String) {
        #expect(code(text, key) == .requestUnauthorized)
    }

    @Test func `a token that is cut, longer or padded is refused`() {
        let token = ReceiptToken(dispatch, key: key).text
        for text in [String(token.dropLast()), token + "A", token + "==", " " + token, token + "\n", token + token] {
            #expect(code(text, key) == .requestUnauthorized, "\(text)")
        }
    }

    @Test func `each token has one spelling`() throws {
        // The last character has four bits that say nothing.
        let token = ReceiptToken(dispatch, key: key).text
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let spellings = letters.filter { code(String(token.dropLast()) + String($0), key) == nil }
        #expect(spellings.count == 1)
    }

    @Test func `a key never shows itself`() {
        #expect("\(key)" == "REDACTED" && String(reflecting: key) == "REDACTED")
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}
