import AttachPrepJobs
import RichPush
import TestSupport
import Testing

struct EventTests {
    @Test func `changes of jobs are told as they happen`() async throws {
        let service = try await LiveService()
        let listener = try await listen(service)
        #expect(await listener.receive(until: ": listening").contains("text/event-stream"))
        let job = JobID.make()
        service.feed.publish([.init(job: job, state: .succeeded)])
        let said = await listener.receive(until: "succeeded\"}\n\n")
        #expect(said.contains("event: job\ndata: {\"id\":\"\(job)\",\"state\":\"succeeded\"}\n\n"))
    }

    @Test func `the queue's numbers are told at the beginning, and when they have changed`() async throws {
        let service = try await LiveService()
        let listener = try await listen(service)
        let first = await listener.receive(until: "}\n\n")
        let none = #"{"cancelled":0,"dead":0,"failed":0,"queued":0,"running":0,"succeeded":0}"#
        #expect(first.contains("event: counts\ndata: {\"due\":0,\"jobs\":\(none),\"oldestDueSeconds\":null}\n\n"))
        _ = try await service.job()
        let next = await listener.receive(until: "\"queued\":1")
        #expect(next.contains("event: counts\ndata: {\"due\":1,\"jobs\":"))
    }

    @Test func `however many listen, the numbers are asked for once at a time`() async throws {
        let service = try await LiveService()
        var listeners: [RawConnection] = []
        for _ in 0..<50 { listeners.append(try await listen(service)) }
        for listener in listeners { #expect(await listener.receive(until: "event: counts").contains("listening")) }
        // One a second, and all of them came within some seconds.
        #expect(service.store.state.withLock(\.counted) < listeners.count / 2)
    }

    @Test func `listeners end with the service`() async throws {
        let service = try await LiveService()
        let listener = try await listen(service)
        _ = await listener.receive(until: ": listening")
        await service.beginToStop()
        #expect(String(decoding: await listener.receiveAll(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        try await service.ended()
    }

    @Test func `there are so many places for listeners, and they are free again`() async throws {
        let service = try await LiveService()
        var listeners: [RawConnection] = []
        for _ in 0..<Limits.eventListenersMax {
            let listener = try await listen(service)
            _ = await listener.receive(until: ": listening")
            listeners.append(listener)
        }
        let refused = try await service.caller.get("/v1/events")
        #expect(refused.status == 503 && refused.code == "events.full" && refused.field("retry-after") == "30")
        listeners.removeAll()
        try await pollUntil("a place is free again") {
            service.feed.publish((0..<50).map { _ in .init(job: .make(), state: .queued) })
            let listener = try await listen(service)
            return await listener.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200")
        }
    }

    private func listen(_ service: LiveService) async throws -> RawConnection {
        let connection = try RawConnection(port: service.port)
        try await connection.send(
            "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n\r\n")
        return connection
    }
}
