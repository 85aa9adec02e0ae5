import PostgresDatabase
import SQLStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct PostgresListenerTests {
    /// The next notification that is not the event of a connection that failed.
    private static func next(_ iterator: inout AsyncStream<SQLNotification>.Iterator) async -> SQLNotification? {
        while let event = await iterator.next() {
            if event != .unsupported { return event }
        }
        return nil
    }

    @Test func `A message arrives in all processes after its commit`() async throws {
        let sender = try await PostgresDatabase.forTest("notify")
        let receiver = try await PostgresDatabase.forTest("notify")
        let elsewhere = try await PostgresDatabase.forTest("notify_other")
        var (own, other) = (sender.notifications.makeAsyncIterator(), receiver.notifications.makeAsyncIterator())
        var foreign = elsewhere.notifications.makeAsyncIterator()
        #expect(await own.next() == .interrupted)
        #expect(await other.next() == .interrupted)
        #expect(await foreign.next() == .interrupted)
        await #expect(throws: TestError.self) {
            try await sender.transact(.parallel) {
                try $0.notify("rolled back")
                throw TestError(description: "stop")
            }
        }
        try await sender.transact(.parallel) { try $0.notify("one é'") }
        try await sender.transact(.exclusive) {
            try $0.run("SELECT 1")
            try $0.notify("two")
            try $0.notify("three")
        }
        for expected in ["one é'", "two", "three"] {
            #expect(await own.next() == .message(expected))
            #expect(await other.next() == .message(expected))
        }
        // Another schema of the same database has its own channel.
        try await elsewhere.transact(.parallel) { try $0.notify("own") }
        #expect(await foreign.next() == .message("own"))
    }

    @Test func `After a lost connection, messages arrive again`() async throws {
        let sender = try await PostgresDatabase.forTest("notify_again")
        let relay = try PostgresRelay(to: await SharedServer.server)
        let receiver = try await PostgresDatabase.open(relay.url, "notify_again")
        var iterator = receiver.notifications.makeAsyncIterator()
        #expect(await iterator.next() == .interrupted)
        relay.cutAll()
        #expect(await iterator.next() == .unsupported)
        #expect(await Self.next(&iterator) == .interrupted)
        try await sender.transact(.parallel) { try $0.notify("again") }
        #expect(await Self.next(&iterator) == .message("again"))
    }

    @Test func `A message that is too long is rejected before it is sent`() async throws {
        let database = try await PostgresDatabase.forTest("notify_long")
        let error = await #expect(throws: SQLError.self) {
            try await database.transact(.parallel) { try $0.notify(String(repeating: "x", count: 8_000)) }
        }
        #expect(error?.kind == .rejected)
        try await database.transact(.parallel) { try $0.notify(String(repeating: "x", count: 7_999)) }
    }

    @Test func `Behind a PgBouncer everything but notifications works`() async throws {
        let server = try await SharedServer.server
        let pooler = try await PgBouncer.start(before: server)
        _ = try await PostgresDatabase.forTest("pooled")
        let database = try await PostgresDatabase.open(pooler.url, "pooled")
        let other = try await PostgresDatabase.open(pooler.url, "public")
        var iterator = database.notifications.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask {
                    try await database.transact(index % 2 == 0 ? .parallel : .exclusive) { connection in
                        try connection.run("INSERT INTO item (id, number) VALUES ($1, $2)", [.text("\(index)"), 1])
                        try connection.notify("\(index)")
                    }
                    // The search path of one must not reach the other, which shares connections to the server.
                    let path: String? = try await other.read { try $0.row("SHOW search_path")?[0] }
                    if path != "\"public\"" { throw TestError(description: "search_path is \(path ?? "nil")") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.ids().count == 50)
        #expect(await iterator.next() == .unsupported)
        #expect(try await database.diagnostics().isPooled)
    }
}
