import AttachPrepJobs
import Foundation
import RichPush
import TestSupport
import Testing

@Suite struct ReceiptKeyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func isSame(_ one: ReceiptKey, _ other: ReceiptKey) throws -> Bool {
        let dispatch = DispatchID.make()
        return ReceiptToken(dispatch, key: one) == ReceiptToken(dispatch, key: other)
    }

    @Test func `a folder's key is made once, for its owner alone`() async throws {
        let first = try await ReceiptKey.open(folder: folder.path)
        #expect(try isSame(first, try await ReceiptKey.open(folder: folder.path)))
        #expect(try folder.contents() == ["receipt.key"] && folder.bytes(of: "receipt.key").count == 32)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("receipt.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `those who make it at the same time have the same`() async throws {
        let path = folder.path
        let keys = try await withThrowingTaskGroup(of: ReceiptKey.self) { group in
            for _ in 0..<20 { group.addTask { try await ReceiptKey.open(folder: path) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for key in keys { #expect(try isSame(key, keys[0])) }
        #expect(try folder.contents() == ["receipt.key"])
    }

    @Test(arguments: [0, 31, 33])
    func `a key of another length is named and left as it is`(_ count: Int) async throws {
        try folder.write([UInt8](repeating: 7, count: count), to: "receipt.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path("receipt.key"))
        let error = await #expect(throws: AttachPrepError.self) { try await ReceiptKey.open(folder: folder.path) }
        #expect(error?.code == .queueUnavailable && error?.message.contains(folder.path("receipt.key")) == true)
        #expect(try folder.bytes(of: "receipt.key").count == count)
    }

    @Test func `a key that others may read is refused`() async throws {
        _ = try await ReceiptKey.open(folder: folder.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path("receipt.key"))
        let error = await #expect(throws: AttachPrepError.self) { try await ReceiptKey.open(folder: folder.path) }
        #expect(error?.message.contains("chmod 600") == true)
    }

    @Test func `a folder that is not there is named`() async throws {
        let error = await #expect(throws: AttachPrepError.self) {
            try await ReceiptKey.open(folder: folder.path("gone"))
        }
        #expect(error?.code == .queueUnavailable)
    }
}
