import NATS
import TestSupport
import Testing

@Suite struct JetStreamTests {
    private struct WorkQueue {
        let server: NATSServer
        let stream: JetStream
        let consumer: PullConsumer

        init(ackWait: Duration = .seconds(30)) async throws {
            server = try await NATSServer.start()
            stream = JetStream(try await NATSConnection.connect(NATSSettings(servers: [server.url])))
            var configuration = StreamConfiguration("work", subjects: ["work.*"], description: "for a test")
            configuration.retention = .workQueue
            try await stream.ensure(configuration)
            var consumerConfiguration = ConsumerConfiguration(stream: "work", filter: "work.*")
            consumerConfiguration.ackWait = ackWait
            try await stream.ensureConsumer("all", consumerConfiguration)
            consumer = try await stream.consumer("all", of: "work")
        }

        /// Waits for the next message: one that was just stored may not be pending yet.
        func first() async throws -> Delivery {
            try #require(try await consumer.pull(1, for: .seconds(10)).next()?.first)
        }

        func publish(_ names: String...) async throws {
            for name in names { try await stream.publish(OutgoingMessage("work.\(name)", Array(name.utf8))) }
        }

        func names(_ count: Int) async throws -> [String] { try await consumer.fetch(count).map(\.lastToken) }
    }

    @Test func `A work queue delivers each message once and in order`() async throws {
        let queue = try await WorkQueue()
        try await queue.publish("one", "two", "three")
        let first = try await queue.consumer.fetch(2)
        #expect(first.map(\.lastToken) == ["one", "two"] && first.map(\.count) == [1, 1])
        #expect(first.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "two"])
        #expect(try await queue.names(5) == ["three"])
        #expect(try await queue.names(5).isEmpty)
    }

    @Test func `A message acknowledged with a delay is redelivered with a higher delivery count`() async throws {
        let queue = try await WorkQueue()
        try await queue.publish("one")
        queue.stream.acknowledge(try await queue.first().reply, .later(.zero))
        try await pollUntil("the message is redelivered") { try await queue.consumer.fetch(1).map(\.count) == [2] }
    }

    @Test func `A pull ends when it has delivered the requested number of messages`() async throws {
        let queue = try await WorkQueue()
        try await queue.publish("one", "two", "three")
        let pull = queue.consumer.pull(2, for: .seconds(600))
        var names: [String] = []
        while let deliveries = try await pull.next() { names += deliveries.map(\.lastToken) }
        #expect(names == ["one", "two"])
    }

    @Test func `Acknowledging an earlier delivery also removes the message`() async throws {
        let queue = try await WorkQueue()
        try await queue.publish("one")
        let first = try await queue.first()
        queue.stream.acknowledge(first.reply, .later(.zero))
        try await pollUntil("the message is redelivered") { try await queue.consumer.fetch(1).count == 1 }
        queue.stream.acknowledge(first.reply, .done)
        // The subject can be published to again once the message is removed.
        try await pollUntil("the message is removed") {
            try await queue.stream.publish(OutgoingMessage("work.one").after(0)) != nil
        }
    }

    @Test func `A message that is not acknowledged within the ack wait is redelivered`() async throws {
        let queue = try await WorkQueue(ackWait: .milliseconds(200))
        try await queue.publish("one")
        #expect(try await queue.names(1) == ["one"])
        try await pollUntil("the message is redelivered") { try await queue.names(1) == ["one"] }
    }

    @Test func `A pull delivers messages as they arrive`() async throws {
        let queue = try await WorkQueue()
        let pull = queue.consumer.pull(2, for: .seconds(30))
        try await queue.publish("one")
        #expect(try await pull.next()?.map(\.lastToken) == ["one"])
        try await queue.publish("two")
        #expect(try await pull.next()?.map(\.lastToken) == ["two"])
    }

    @Test func `Of two messages published as a subject's first, one is stored`() async throws {
        let queue = try await WorkQueue()
        let message = OutgoingMessage("work.one").after(0)
        let stored = await queue.stream.publishAll([message, message])
        #expect(try stored.map { try $0.get() } == [1, nil])
    }

    @Test func `An existing stream with another description is left unchanged`() async throws {
        let queue = try await WorkQueue()
        var configuration = StreamConfiguration("work", subjects: ["work.*"], description: "another description")
        configuration.retention = .workQueue
        try await queue.stream.ensure(configuration)
    }

    @Test func `A stream with other subjects and retention is a mismatch`() async throws {
        let queue = try await WorkQueue()
        let configuration = StreamConfiguration("work", subjects: ["other.*"], description: "")
        let error = await #expect(throws: StreamMismatchError.self) { try await queue.stream.ensure(configuration) }
        #expect(error?.differences == ["subjects", "retention"])
    }

    @Test func `A consumer with another ack wait is a mismatch`() async throws {
        let queue = try await WorkQueue()
        var configuration = ConsumerConfiguration(stream: "work", filter: "work.*")
        configuration.ackWait = .seconds(1)
        let error = await #expect(throws: StreamMismatchError.self) {
            try await queue.stream.ensureConsumer("all", configuration)
        }
        #expect(error?.differences == ["ack_wait"])
    }
}

@Suite struct PublishAckTests {
    @Test(arguments: [
        (#"{"stream":"KV_jobs", "seq":1}"#, 1), (#"{"stream":"a", "seq":18446744073709551615}"#, UInt64.max),
        (#"{"stream":"", "seq":0}"#, 0), (#"{"stream":"KV_jobs","seq":17}"#, 17),
    ])
    func `The sequence number of an acknowledgment is read`(answer: String, number: UInt64) {
        #expect(PublishAck.sequence(in: Array(answer.utf8)) == number)
    }

    @Test(arguments: [
        "", "{", "{}", #"{"stream":"a"}"#, #"{"stream":"a", "seq":}"#, #"{"stream":"a", "seq":1"#,
        #"{"stream":"a", "seq":-1}"#, #"{"stream":"a", "seq":01}"#, #"{"stream":"a", "seq":1.0}"#,
        #"{"stream":"a", "seq":18446744073709551616}"#, #"{"stream":"a", "seq":1, "duplicate":true}"#,
        #"{"stream":"a", "seq":1}}"#, #"{"stream":"a\", "seq":1}"#, #"{"stream":"a",  "seq":1}"#,
        #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"},"stream":"a","seq":0}"#,
    ])
    func `Any other form is left to the JSON parser`(answer: String) {
        #expect(PublishAck.sequence(in: Array(answer.utf8)) == nil)
    }

    @Test(
        arguments: [(10_071, true), (10_164, true), (10_163, false), (10_037, false), (nil, false)] as [(Int?, Bool)])
    func `A revision conflict is distinguished from other errors`(number: Int?, isConflict: Bool) {
        #expect(PublishAck.isConflict(number) == isConflict)
    }

    @Test func `The acknowledgments of the installed server have the expected form`() async throws {
        let server = try await NATSServer.start()
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        try await JetStream(connection).ensure(
            StreamConfiguration("work", subjects: ["work.*"], description: "for a test"))
        let answer = try await connection.request(OutgoingMessage("work.one", []))
        #expect(PublishAck.sequence(in: answer.bytes) == 1)
    }
}
