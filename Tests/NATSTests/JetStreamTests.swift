import NATS
import TestSupport
import Testing

@Suite struct JetStreamTests {
    private struct Lane {
        let server: NATSServer
        let stream: JetStream
        let consumer: PullConsumer

        init(ackWait: Duration = .seconds(30)) async throws {
            server = try await NATSServer.start()
            stream = JetStream(try await NATSConnection.connect(NATSSettings(servers: [server.url])))
            var configuration = StreamConfiguration("work", subjects: ["work.*"], description: "a test's")
            configuration.retention = .workQueue
            try await stream.ensure(configuration)
            var wanted = ConsumerConfiguration(stream: "work", filter: "work.*")
            wanted.ackWait = ackWait
            consumer = try await stream.consumer("all", wanted)
        }

        /// The next message, as soon as the server gives it: one that was kept just now may not be pending yet.
        func first() async throws -> Delivery {
            try #require(try await consumer.pull(1, for: .seconds(10)).next()?.first)
        }

        func put(_ names: String...) async throws {
            for name in names { try await stream.publish(OutgoingMessage("work.\(name)", Array(name.utf8))) }
        }

        func names(_ count: Int) async throws -> [String] { try await consumer.fetch(count).map(\.lastToken) }
    }

    @Test func `what is put into a work queue is given once, in its order`() async throws {
        let lane = try await Lane()
        try await lane.put("one", "two", "three")
        let first = try await lane.consumer.fetch(2)
        #expect(first.map(\.lastToken) == ["one", "two"] && first.map(\.count) == [1, 1])
        #expect(first.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "two"])
        #expect(try await lane.names(5) == ["three"])
        #expect(try await lane.names(5).isEmpty)
    }

    @Test func `what is given back is given again, and counted`() async throws {
        let lane = try await Lane()
        try await lane.put("one")
        lane.stream.acknowledge(try await lane.first().reply, .later(.zero))
        try await askUntil("it is given again") { try await lane.consumer.fetch(1).map(\.count) == [2] }
    }

    @Test func `a pull is over when it has brought all that it was asked for`() async throws {
        let lane = try await Lane()
        try await lane.put("one", "two", "three")
        let pull = lane.consumer.pull(2, for: .seconds(600))
        var names: [String] = []
        while let deliveries = try await pull.next() { names += deliveries.map(\.lastToken) }
        #expect(names == ["one", "two"])
    }

    @Test func `what is done with is gone, by an earlier delivery's word too`() async throws {
        let lane = try await Lane()
        try await lane.put("one")
        let first = try await lane.first()
        lane.stream.acknowledge(first.reply, .later(.zero))
        try await askUntil("it is given again") { try await lane.consumer.fetch(1).count == 1 }
        lane.stream.acknowledge(first.reply, .done)
        // The subject is free again once the message is gone.
        try await askUntil("the message is gone") {
            try await lane.stream.publish(OutgoingMessage("work.one").after(0)) != nil
        }
    }

    @Test func `what is not acknowledged in its time is given again`() async throws {
        let lane = try await Lane(ackWait: .milliseconds(200))
        try await lane.put("one")
        #expect(try await lane.names(1) == ["one"])
        try await askUntil("it is given again") { try await lane.names(1) == ["one"] }
    }

    @Test func `a pull hands messages over as they come`() async throws {
        let lane = try await Lane()
        let pull = lane.consumer.pull(2, for: .seconds(30))
        try await lane.put("one")
        #expect(try await pull.next()?.map(\.lastToken) == ["one"])
        try await lane.put("two")
        #expect(try await pull.next()?.map(\.lastToken) == ["two"])
    }

    @Test func `of two messages that want to be a subject's first, one is`() async throws {
        let lane = try await Lane()
        let message = OutgoingMessage("work.one").after(0)
        let kept = await lane.stream.publishAll([message, message])
        #expect(try kept.map { try $0.get() } == [1, nil])
    }

    @Test func `a stream that is there is left as it is`() async throws {
        let lane = try await Lane()
        var configuration = StreamConfiguration("work", subjects: ["work.*"], description: "another description")
        configuration.retention = .workQueue
        try await lane.stream.ensure(configuration)
    }

    @Test func `a stream of another kind is not taken for ours`() async throws {
        let lane = try await Lane()
        let configuration = StreamConfiguration("work", subjects: ["other.*"], description: "")
        let error = await #expect(throws: StreamMismatchError.self) { try await lane.stream.ensure(configuration) }
        #expect(error?.differences == ["subjects", "retention"])
    }

    @Test func `a consumer with another time to acknowledge is not taken for ours`() async throws {
        let lane = try await Lane()
        var wanted = ConsumerConfiguration(stream: "work", filter: "work.*")
        wanted.ackWait = .seconds(1)
        let error = await #expect(throws: StreamMismatchError.self) {
            _ = try await lane.stream.consumer("all", wanted)
        }
        #expect(error?.differences == ["ack_wait"])
    }
}
