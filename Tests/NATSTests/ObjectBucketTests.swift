import Foundation
import NATS
import TestSupport
import Testing

@Suite struct ObjectBucketTests {
    private struct Store {
        let server: NATSServer
        let stream: JetStream
        let bucket: ObjectBucket

        init(_ extra: String = "", requestTimeout: Duration = .seconds(5)) async throws {
            server = try await NATSServer.start(extra)
            let settings = NATSSettings(servers: [server.url], requestTimeout: requestTimeout)
            stream = JetStream(try await NATSConnection.connect(settings))
            bucket = try await ObjectBucket.open(BucketConfiguration("things", description: "for a test"), in: stream)
        }

        @discardableResult
        func put(
            _ name: String, _ bytes: [UInt8], sha256: String = ObjectBucketTests.sha256
        ) async throws -> ObjectInfo {
            try await bucket.put(name, bytes: bytes.count, digest: sha256) { offset, count in
                Array(bytes[offset..<offset + count])
            }
        }

        func bytes(of object: ObjectInfo) async throws -> [UInt8] {
            var all: [UInt8] = []
            try await bucket.get(object) { all += $0 }
            return all
        }

        var messageCount: Int {
            get async throws { try await stream.messageCount("OBJ_things") }
        }

        /// The last message of a subject, as the server stores it.
        func last(on subject: String) async throws -> (bytes: Data, headers: String) {
            let request = OutgoingMessage(
                "$JS.API.STREAM.MSG.GET.OBJ_things", Array("{\"last_by_subj\":\"\(subject)\"}".utf8))
            let answer = try await stream.connection.request(request)
            let message = try JSONDecoder().decode(StoredMessageResponse.self, from: Data(answer.bytes)).message
            return (message.data, String(decoding: message.hdrs ?? Data(), as: UTF8.self))
        }
    }

    private struct StoredMessageResponse: Decodable {
        struct Message: Decodable {
            var data: Data
            var hdrs: Data?
        }

        var message: Message
    }

    /// Not the digest of any object in these tests; the bucket does not verify it.
    private static let sha256 = String(repeating: "ab", count: 32)

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
    }

    @Test func `An object of several chunks is read back byte for byte`() async throws {
        let store = try await Store()
        let bytes = Self.bytes(300_000)
        let object = try await store.put("letter", bytes)
        #expect(object.size == 300_000 && object.chunks == 3 && object.sha256 == Self.sha256)
        #expect(try await store.bucket.information("letter") == object)
        #expect(try await store.bytes(of: object) == bytes)
    }

    @Test func `Chunks fit the server's payload limit and are sent in windows`() async throws {
        let store = try await Store("max_payload: 4000")
        let bytes = Self.bytes(300_000)
        let object = try await store.put("letter", bytes)
        #expect(object.chunks == 75)
        #expect(try await store.bytes(of: object) == bytes)
    }

    @Test func `An object's metadata is stored with it`() async throws {
        let store = try await Store()
        try await store.bucket.put("letter", bytes: 1, digest: Self.sha256, metadata: ["from": "me"]) { _, _ in [7] }
        #expect(try await store.bucket.information("letter")?.metadata == ["from": "me"])
    }

    @Test func `An empty object can be stored and read`() async throws {
        let store = try await Store()
        let object = try await store.put("nothing", [])
        #expect(object.chunks == 0)
        #expect(try await store.bytes(of: object).isEmpty)
    }

    @Test func `An empty bucket has no objects`() async throws {
        let store = try await Store()
        #expect(try await store.bucket.information("letter") == nil)
        #expect(try await store.messageCount == 0)
    }

    @Test func `Replacing an object leaves no chunk of the previous one`() async throws {
        let store = try await Store()
        try await store.put("letter", Self.bytes(300_000))
        let second = try await store.put("letter", Self.bytes(200_000))
        #expect(try await store.bucket.information("letter") == second)
        #expect(try await store.bytes(of: second) == Self.bytes(200_000))
        #expect(try await store.messageCount == second.chunks + 1)
    }

    @Test func `An object whose source fails leaves nothing in the bucket`() async throws {
        let store = try await Store("max_payload: 4000")
        await #expect(throws: TestError.self) {
            try await store.bucket.put("letter", bytes: 300_000, digest: Self.sha256) { offset, count in
                guard offset < 200_000 else { throw TestError(description: "the file is cut") }
                return [UInt8](repeating: 0, count: count)
            }
        }
        #expect(try await store.bucket.information("letter") == nil)
        #expect(try await store.messageCount == 0)
    }

    @Test func `An object is read completely while another one is replaced`() async throws {
        let store = try await Store("max_payload: 4000")
        try await store.put("other", Self.bytes(9_000))
        let bytes = Self.bytes(300_000)
        let object = try await store.put("letter", bytes)
        var read: [UInt8] = []
        try await store.bucket.get(object) { chunk in
            if read.isEmpty { try await store.put("other", Self.bytes(10_000)) }
            read += chunk
        }
        #expect(read == bytes)
    }

    @Test func `A missing chunk is an error`() async throws {
        let store = try await Store(requestTimeout: .seconds(2))
        let object = try await store.put("letter", Self.bytes(300_000))
        let request = OutgoingMessage("$JS.API.STREAM.MSG.DELETE.OBJ_things", Array(#"{"seq":2,"no_erase":true}"#.utf8))
        _ = try await store.stream.connection.request(request)
        #expect(try await store.messageCount == object.chunks)
        let error = await #expect(throws: NATSError.self) { _ = try await store.bytes(of: object) }
        guard case .unreadable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `An object deleted by another NATS client does not exist`() async throws {
        let store = try await Store()
        try await store.put("letter", Self.bytes(10))
        let text = #"{"name":"letter","bucket":"things","nuid":"x","size":0,"chunks":0,"deleted":true}"#
        try await store.stream.publish(
            OutgoingMessage("$O.things.M.bGV0dGVy", Array(text.utf8), headers: [("Nats-Rollup", "sub")]))
        #expect(try await store.bucket.information("letter") == nil)
    }

    @Test func `Objects are stored in the format of NATS' own tools`() async throws {
        let store = try await Store()
        let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        let object = try await store.put("letter", Array("hello".utf8), sha256: sha256)
        let stored = try await store.last(on: "$O.things.M.bGV0dGVy")
        let information = try #require(try JSONSerialization.jsonObject(with: stored.bytes) as? [String: Any])
        #expect(stored.headers.contains("Nats-Rollup: sub"))
        #expect(information["name"] as? String == "letter" && information["bucket"] as? String == "things")
        #expect(information["size"] as? Int == 5 && information["chunks"] as? Int == 1)
        #expect(information["digest"] as? String == "SHA-256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=")
        #expect((information["options"] as? [String: Any])?["max_chunk_size"] as? Int == 131_072)
        let chunk = try await store.last(on: "$O.things.C.\(object.nuid)")
        #expect(chunk.bytes == Data("hello".utf8))
    }
}
