import Synchronization
import TestSupport
import Testing

@testable import NATS

@Suite struct KeyValueBucketTests {
    private struct Store {
        let server: NATSServer
        let bucket: KeyValueBucket

        init() async throws {
            server = try await NATSServer.start()
            let stream = JetStream(try await NATSConnection.connect(NATSSettings(servers: [server.url])))
            bucket = try await KeyValueBucket.open(BucketConfiguration("things", description: "for a test"), in: stream)
        }

        func put(_ key: String, _ text: String, after revision: UInt64? = nil) async throws -> UInt64? {
            try await bucket.make(KeyValueBucket.Change(key, Array(text.utf8), after: revision))
        }

        /// Pauses all consumers, like a server whose replica has stopped: it answers requests and delivers nothing.
        func pauseConsumers() async throws {
            struct Names: Decodable { var consumers: [String] }
            struct Pause: Encodable { var pause_until = "2100-01-01T00:00:00Z" }
            struct Paused: Decodable { var paused: Bool }
            let stream = bucket.stream
            let names: Names = try await stream.request("CONSUMER.NAMES.\(bucket.streamName)")
            for name in names.consumers {
                let answer: Paused = try await stream.request("CONSUMER.PAUSE.\(bucket.streamName).\(name)", Pause())
                #expect(answer.paused)
            }
        }

        func text(_ key: String) async throws -> String? {
            try await bucket.entry(key)?.value.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The entries that a watch delivered.
    private final class DeliveredEntries: Sendable {
        private let state = Mutex((entries: [KeyValueEntry](), isCurrent: false))

        var entries: [KeyValueEntry] { state.withLock { $0.entries } }
        var isCurrent: Bool { state.withLock { $0.isCurrent } }

        func add(_ entries: [KeyValueEntry], _ isCurrent: Bool) {
            state.withLock { state in
                state.entries += entries
                state.isCurrent = state.isCurrent || isCurrent
            }
        }
    }

    @Test func `A key has its last written value`() async throws {
        let store = try await Store()
        #expect(try await store.text("a.b") == nil)
        let first = try await store.put("a.b", "one")
        let second = try await store.put("a.b", "two")
        #expect(first == 1 && second == 2)
        #expect(try await store.text("a.b") == "two")
        #expect(try await store.bucket.entry("a.b")?.revision == 2)
    }

    @Test func `A write that expects another revision has no effect`() async throws {
        let store = try await Store()
        #expect(try await store.put("key", "one", after: 0) == 1)
        #expect(try await store.put("key", "two", after: 0) == nil)
        #expect(try await store.put("key", "two", after: 1) == 2)
        #expect(try await store.put("key", "three", after: 1) == nil)
        #expect(try await store.text("key") == "two")
    }

    @Test func `A removed key has no value and can be written again`() async throws {
        let store = try await Store()
        _ = try await store.put("key", "one")
        let removed = try await store.bucket.make(KeyValueBucket.Change("key", nil, after: 1))
        #expect(removed == 2)
        let entry = try await store.bucket.entry("key")
        #expect(entry == KeyValueEntry(key: "key", value: nil, revision: 2))
        #expect(try await store.put("key", "two", after: 2) == 3)
    }

    @Test func `A watch delivers the existing entries, then new ones`() async throws {
        let store = try await Store()
        _ = try await store.put("one", "1")
        _ = try await store.put("two", "1")
        _ = try await store.put("one", "2")
        let delivered = DeliveredEntries()
        let bucket = store.bucket
        let watch = Task { try await bucket.watch(after: 0) { delivered.add($0, $1) } }
        defer { watch.cancel() }
        try await waitUntil("the watch is current") { delivered.isCurrent }
        #expect(delivered.entries.map(\.key) == ["two", "one"])
        _ = try await store.put("three", "1")
        _ = try await store.bucket.make(KeyValueBucket.Change("two", nil))
        try await waitUntil("both entries are delivered") { delivered.entries.count == 4 }
        #expect(delivered.entries.map(\.revision) == [2, 3, 4, 5] && delivered.entries[3].value == nil)
    }

    @Test func `A watch of an empty bucket is current immediately`() async throws {
        let store = try await Store()
        let delivered = DeliveredEntries()
        let bucket = store.bucket
        let watch = Task { try await bucket.watch(after: 0) { delivered.add($0, $1) } }
        defer { watch.cancel() }
        try await waitUntil("the watch is current") { delivered.isCurrent }
        #expect(delivered.entries.isEmpty)
    }

    @Test func `A watch that starts after a revision delivers only later ones`() async throws {
        let store = try await Store()
        for number in 1...5 { _ = try await store.put("key \(number)".replacing(" ", with: "-"), "x") }
        let delivered = DeliveredEntries()
        let bucket = store.bucket
        let watch = Task { try await bucket.watch(after: 3) { delivered.add($0, $1) } }
        defer { watch.cancel() }
        try await waitUntil("both entries are delivered") { delivered.entries.count == 2 }
        #expect(delivered.entries.map(\.key) == ["key-4", "key-5"])
    }

    @Test func `A watch delivers more entries than one pull requests`() async throws {
        let store = try await Store()
        let (delivered, bucket) = (DeliveredEntries(), store.bucket)
        let watch = Task { try await bucket.watch(after: 0) { delivered.add($0, $1) } }
        try await waitUntil("the watch is current") { delivered.isCurrent }
        for round in 0..<5 {
            let changes = (0..<500).map { KeyValueBucket.Change("key\(round)-\($0)", [1]) }
            for answer in await bucket.makeAll(changes) { _ = try answer.get() }
        }
        // More than one pull requests: a watch that does not pull again would time out waiting for the rest.
        try await pollUntil("all entries are delivered", seconds: 5) { delivered.entries.count == 2_500 }
        watch.cancel()
    }

    @Test func `A watch misses no entry while other keys and their tombstones are removed`() async throws {
        let store = try await Store()
        let (delivered, bucket) = (DeliveredEntries(), store.bucket)
        let watch = Task { try await bucket.watch(after: 0) { delivered.add($0, $1) } }
        try await waitUntil("the watch is current") { delivered.isCurrent }
        let changes = (0..<500).flatMap { number in
            [
                KeyValueBucket.Change("passing-\(number)", [1]), KeyValueBucket.Change("key-\(number)", [1]),
                KeyValueBucket.Change("passing-\(number)", nil),
            ]
        }
        let revisions = try await bucket.makeAll(changes).map { try $0.get() }
        for number in 0..<500 {
            try await bucket.erase(try #require(revisions[number * 3 + 2]))
            _ = try await store.put("beside-\(number)", "x")
        }
        try await pollUntil("the last entry is delivered") { delivered.entries.last?.key == "beside-499" }
        let present = Set(delivered.entries.filter { $0.value != nil }.map(\.key).filter { !$0.hasPrefix("passing") })
        #expect(present.count == 1_000)
        watch.cancel()
    }

    @Test func `Erasing a tombstone removes the key`() async throws {
        let store = try await Store()
        _ = try await store.put("key", "one")
        let tombstone = try #require(try await store.bucket.make(KeyValueBucket.Change("key", nil)))
        try await store.bucket.erase(tombstone)
        #expect(try await store.bucket.entry("key") == nil)
        try await store.bucket.erase(tombstone)
    }

    @Test func `A watch fails when its server falls behind the stream's leader`() async throws {
        let store = try await Store()
        let (delivered, bucket) = (DeliveredEntries(), store.bucket)
        let watch = Task { try await bucket.watch(after: 0, pullTime: .milliseconds(300)) { delivered.add($0, $1) } }
        try await waitUntil("the watch is current") { delivered.isCurrent }
        try await store.pauseConsumers()
        _ = try await store.put("key", "one")
        await #expect(throws: ReplicaBehindError(stream: "KV_things", sequence: 0)) { try await watch.value }
    }

    @Test func `A watch continues when the last change of its bucket was erased`() async throws {
        let store = try await Store()
        let (delivered, bucket) = (DeliveredEntries(), store.bucket)
        _ = try await store.put("key", "one")
        let tombstone = try #require(try await bucket.make(KeyValueBucket.Change("other", nil)))
        try await bucket.erase(tombstone)
        let watch = Task { try await bucket.watch(after: 0, pullTime: .milliseconds(50)) { delivered.add($0, $1) } }
        defer { watch.cancel() }
        try await waitUntil("the watch is current") { delivered.isCurrent }
        let end = ContinuousClock.now + .milliseconds(500)
        try await pollUntil("several pulls have ended") { ContinuousClock.now > end }
        _ = try await store.put("key", "two")
        try await waitUntil("the entry is delivered") { delivered.entries.map(\.revision) == [1, 3] }
    }

    @Test func `A watch fails when the server is killed`() async throws {
        let store = try await Store()
        let delivered = DeliveredEntries()
        let bucket = store.bucket
        let watch = Task { try await bucket.watch(after: 0) { delivered.add($0, $1) } }
        try await waitUntil("the watch is current") { delivered.isCurrent }
        store.server.kill()
        await #expect(throws: NATSError.self) { try await watch.value }
    }
}
