import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

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

    @Test func `A token identifies its dispatch in at most 40 characters`() throws {
        let token = ReceiptToken(dispatch, key: key)
        #expect(token.text.utf8.count == ReceiptToken.charactersCount && token.text.utf8.count <= 40)
        #expect(try ReceiptToken.dispatch(of: token.text, key: key) == dispatch)
        #expect(token.text.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") })
    }

    @Test func `Dispatch ids at the extremes are read back unchanged`() throws {
        for bits in [0, 1, UInt64.max, 0x8000_0000_0000_0000, 0x0123_4567_89AB_CDEF] {
            let token = ReceiptToken(DispatchID(bits: bits), key: key)
            #expect(try ReceiptToken.dispatch(of: token.text, key: key).bits == bits)
        }
    }

    @Test func `A token with one changed character is rejected`() {
        let token = Array(ReceiptToken(dispatch, key: key).text.utf8)
        for index in token.indices {
            for other in "AQgw_-9".utf8 where other != token[index] {
                var changed = token
                changed[index] = other
                #expect(code(String(decoding: changed, as: UTF8.self), key) == .requestUnauthorized, "at \(index)")
            }
        }
    }

    @Test func `Tokens of another key are rejected`() {
        #expect(code(ReceiptToken(dispatch, key: .random()).text, key) == .requestUnauthorized)
    }

    @Test(arguments: ["", "A", String(repeating: "A", count: 34), String(repeating: "é", count: 17), "\u{0}"])
    func `Invalid tokens are rejected`(_ text: String) {
        #expect(code(text, key) == .requestUnauthorized)
    }

    @Test func `A truncated, extended or padded token is rejected`() {
        let token = ReceiptToken(dispatch, key: key).text
        for text in [String(token.dropLast()), token + "A", token + "==", " " + token, token + "\n", token + token] {
            #expect(code(text, key) == .requestUnauthorized, "\(text)")
        }
    }

    @Test func `Each token has exactly one encoding`() throws {
        // The last character has four unused bits.
        let token = ReceiptToken(dispatch, key: key).text
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let encodings = letters.filter { code(String(token.dropLast()) + String($0), key) == nil }
        #expect(encodings.count == 1)
    }

    @Test func `A key's descriptions do not reveal it`() {
        #expect("\(key)" == "REDACTED" && String(reflecting: key) == "REDACTED")
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}

@Suite struct ReceiptKeyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func isSame(_ one: ReceiptKey, _ other: ReceiptKey) throws -> Bool {
        let dispatch = DispatchID.make()
        return ReceiptToken(dispatch, key: one) == ReceiptToken(dispatch, key: other)
    }

    @Test func `A folder's key is created once, accessible to its owner only`() async throws {
        let first = try await ReceiptKey.open(folder: folder.path)
        #expect(try isSame(first, try await ReceiptKey.open(folder: folder.path)))
        #expect(try folder.contents() == ["receipt.key"] && folder.bytes(of: "receipt.key").count == 32)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("receipt.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `Concurrent openings create one key`() async throws {
        let path = folder.path
        let keys = try await withThrowingTaskGroup(of: ReceiptKey.self) { group in
            for _ in 0..<20 { group.addTask { try await ReceiptKey.open(folder: path) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for key in keys { #expect(try isSame(key, keys[0])) }
        #expect(try folder.contents() == ["receipt.key"])
    }

    @Test(arguments: [0, 31, 33])
    func `A key file of another length is reported and left unchanged`(_ count: Int) async throws {
        try folder.write([UInt8](repeating: 7, count: count), to: "receipt.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path("receipt.key"))
        let error = await #expect(throws: AttachPrepError.self) { try await ReceiptKey.open(folder: folder.path) }
        #expect(error?.code == .queueUnavailable && error?.message.contains(folder.path("receipt.key")) == true)
        #expect(try folder.bytes(of: "receipt.key").count == count)
    }

    @Test func `A key file that others can read is rejected`() async throws {
        _ = try await ReceiptKey.open(folder: folder.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path("receipt.key"))
        let error = await #expect(throws: AttachPrepError.self) { try await ReceiptKey.open(folder: folder.path) }
        #expect(error?.message.contains("chmod 600") == true)
    }

    @Test func `A missing folder is reported`() async throws {
        let error = await #expect(throws: AttachPrepError.self) {
            try await ReceiptKey.open(folder: folder.path("gone"))
        }
        #expect(error?.code == .queueUnavailable)
    }
}
