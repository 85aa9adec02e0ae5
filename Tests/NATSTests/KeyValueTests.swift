import Synchronization
import TestSupport
import Testing

@testable import NATS

@Suite struct KeyValueTests {
    private struct Store {
        let server: NATSServer
        let bucket: KeyValueBucket

        init() async throws {
            server = try await NATSServer.start()
            let stream = JetStream(try await NATSConnection.connect(NATSSettings(servers: [server.url])))
            bucket = try await KeyValueBucket.open(BucketConfiguration("things", description: "a test's"), in: stream)
        }

        func put(_ key: String, _ text: String, after revision: UInt64? = nil) async throws -> UInt64? {
            try await bucket.make(KeyValueBucket.Change(key, Array(text.utf8), after: revision))
        }

        /// What a server does whose copy has stopped: it answers, and delivers nothing.
        func pauseConsumers() async throws {
            struct Names: Decodable { var consumers: [String] }
            struct Pause: Encodable { var pause_until = "2100-01-01T00:00:00Z" }
            struct Paused: Decodable { var paused: Bool }
            let stream = bucket.stream
            let names: Names = try await stream.ask("CONSUMER.NAMES.\(bucket.streamName)")
            for name in names.consumers {
                let answer: Paused = try await stream.ask("CONSUMER.PAUSE.\(bucket.streamName).\(name)", Pause())
                #expect(answer.paused)
            }
        }

        func text(_ key: String) async throws -> String? {
            try await bucket.entry(key)?.value.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// What a watch heard.
    private final class Heard: Sendable {
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

    @Test func `a key has the value that it was given last`() async throws {
        let store = try await Store()
        #expect(try await store.text("a.b") == nil)
        let first = try await store.put("a.b", "one")
        let second = try await store.put("a.b", "two")
        #expect(first == 1 && second == 2)
        #expect(try await store.text("a.b") == "two")
        #expect(try await store.bucket.entry("a.b")?.revision == 2)
    }

    @Test func `a change that expects another revision changes nothing`() async throws {
        let store = try await Store()
        #expect(try await store.put("key", "one", after: 0) == 1)
        #expect(try await store.put("key", "two", after: 0) == nil)
        #expect(try await store.put("key", "two", after: 1) == 2)
        #expect(try await store.put("key", "three", after: 1) == nil)
        #expect(try await store.text("key") == "two")
    }

    @Test func `a key that was removed has no value, and can be given one`() async throws {
        let store = try await Store()
        _ = try await store.put("key", "one")
        let removed = try await store.bucket.make(KeyValueBucket.Change("key", nil, after: 1))
        #expect(removed == 2)
        let entry = try await store.bucket.entry("key")
        #expect(entry == KeyValueEntry(key: "key", value: nil, revision: 2))
        #expect(try await store.put("key", "two", after: 2) == 3)
    }

    @Test func `a watch hears of what is there, then of what comes`() async throws {
        let store = try await Store()
        _ = try await store.put("one", "1")
        _ = try await store.put("two", "1")
        _ = try await store.put("one", "2")
        let heard = Heard()
        let bucket = store.bucket
        let watch = Task { try await bucket.watch(after: 0) { heard.add($0, $1) } }
        defer { watch.cancel() }
        try await waitUntil("it is current") { heard.isCurrent }
        #expect(heard.entries.map(\.key) == ["two", "one"])
        _ = try await store.put("three", "1")
        _ = try await store.bucket.make(KeyValueBucket.Change("two", nil))
        try await waitUntil("both are heard of") { heard.entries.count == 4 }
        #expect(heard.entries.map(\.revision) == [2, 3, 4, 5] && heard.entries[3].value == nil)
    }

    @Test func `a watch of an empty bucket is current at once`() async throws {
        let store = try await Store()
        let heard = Heard()
        let bucket = store.bucket
        let watch = Task { try await bucket.watch(after: 0) { heard.add($0, $1) } }
        defer { watch.cancel() }
        try await waitUntil("it is current") { heard.isCurrent }
        #expect(heard.entries.isEmpty)
    }

    @Test func `a watch that begins behind a revision hears of later ones alone`() async throws {
        let store = try await Store()
        for number in 1...5 { _ = try await store.put("key \(number)".replacing(" ", with: "-"), "x") }
        let heard = Heard()
        let bucket = store.bucket
        let watch = Task { try await bucket.watch(after: 3) { heard.add($0, $1) } }
        defer { watch.cancel() }
        try await waitUntil("both are heard of") { heard.entries.count == 2 }
        #expect(heard.entries.map(\.key) == ["key-4", "key-5"])
    }

    @Test func `a watch goes on however much there is to be heard`() async throws {
        let store = try await Store()
        let (heard, bucket) = (Heard(), store.bucket)
        let watch = Task { try await bucket.watch(after: 0) { heard.add($0, $1) } }
        try await waitUntil("it is current") { heard.isCurrent }
        for round in 0..<5 {
            let changes = (0..<500).map { KeyValueBucket.Change("key\(round)-\($0)", [1]) }
            for answer in await bucket.makeAll(changes) { _ = try answer.get() }
        }
        // More than it asks for at a time; one that was not told so would wait for the rest until it gives up.
        try await askUntil("all are heard", seconds: 5) { heard.entries.count == 2_500 }
        watch.cancel()
    }

    @Test func `a watch misses nothing while other keys are removed, and their marks`() async throws {
        let store = try await Store()
        let (heard, bucket) = (Heard(), store.bucket)
        let watch = Task { try await bucket.watch(after: 0) { heard.add($0, $1) } }
        try await waitUntil("it is current") { heard.isCurrent }
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
        try await askUntil("the last is heard") { heard.entries.last?.key == "beside-499" }
        let kept = Set(heard.entries.filter { $0.value != nil }.map(\.key).filter { !$0.hasPrefix("passing") })
        #expect(kept.count == 1_000)
        watch.cancel()
    }

    @Test func `a mark that was erased is gone, and the key with it`() async throws {
        let store = try await Store()
        _ = try await store.put("key", "one")
        let mark = try #require(try await store.bucket.make(KeyValueBucket.Change("key", nil)))
        try await store.bucket.erase(mark)
        #expect(try await store.bucket.entry("key") == nil)
        try await store.bucket.erase(mark)
    }

    @Test func `A watch ends when its server no longer gets the changes that the leader has`() async throws {
        let store = try await Store()
        let (heard, bucket) = (Heard(), store.bucket)
        let watch = Task { try await bucket.watch(after: 0, pullTime: .milliseconds(300)) { heard.add($0, $1) } }
        try await waitUntil("it is current") { heard.isCurrent }
        try await store.pauseConsumers()
        _ = try await store.put("key", "one")
        await #expect(throws: ReplicaBehindError(stream: "KV_things", number: 0)) { try await watch.value }
    }

    @Test func `A watch of a bucket whose last change was erased goes on`() async throws {
        let store = try await Store()
        let (heard, bucket) = (Heard(), store.bucket)
        _ = try await store.put("key", "one")
        let mark = try #require(try await bucket.make(KeyValueBucket.Change("other", nil)))
        try await bucket.erase(mark)
        let watch = Task { try await bucket.watch(after: 0, pullTime: .milliseconds(50)) { heard.add($0, $1) } }
        defer { watch.cancel() }
        try await waitUntil("it is current") { heard.isCurrent }
        let end = ContinuousClock.now + .milliseconds(500)
        try await askUntil("several pulls are over") { ContinuousClock.now > end }
        _ = try await store.put("key", "two")
        try await waitUntil("it is heard of") { heard.entries.map(\.revision) == [1, 3] }
    }

    @Test func `a watch ends when the server goes`() async throws {
        let store = try await Store()
        let heard = Heard()
        let bucket = store.bucket
        let watch = Task { try await bucket.watch(after: 0) { heard.add($0, $1) } }
        try await waitUntil("it is current") { heard.isCurrent }
        store.server.kill()
        await #expect(throws: NATSError.self) { try await watch.value }
    }
}
