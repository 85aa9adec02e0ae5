import AttachPrepJobs
import MediaTypes
import TestSupport
import Testing

struct EventRouteTests {
    @Test func `Job changes are sent as they happen`() async throws {
        let service = try await LiveService()
        let listener = try await listen(service)
        #expect(await listener.receive(until: ": listening").contains("text/event-stream"))
        let job = JobID.make()
        service.feed.publish([.init(job: job, state: .succeeded)])
        let received = await listener.receive(until: "succeeded\"}\n\n")
        #expect(received.contains("event: job\ndata: {\"id\":\"\(job)\",\"state\":\"succeeded\"}\n\n"))
    }

    @Test func `The queue's counts are sent at the start and on changes`() async throws {
        let service = try await LiveService()
        let listener = try await listen(service)
        let first = await listener.receive(until: "}\n\n")
        let noJobs = #"{"cancelled":0,"dead":0,"failed":0,"queued":0,"running":0,"succeeded":0}"#
        let counts = #"{"due":0,"jobs":\#(noJobs),"oldestDueSeconds":null,"paused":0}"#
        #expect(first.contains("event: counts\ndata: \(counts)\n\n"))
        _ = try await service.job()
        let next = await listener.receive(until: "\"queued\":1")
        #expect(next.contains("event: counts\ndata: {\"due\":1,\"jobs\":"))
    }

    @Test func `Counts are queried once for all listeners`() async throws {
        let service = try await LiveService()
        var listeners: [RawConnection] = []
        for _ in 0..<50 { listeners.append(try await listen(service)) }
        for listener in listeners { #expect(await listener.receive(until: "event: counts").contains("listening")) }
        // One query per second, and all listeners connected within seconds.
        #expect(service.store.state.withLock(\.countQueries) < listeners.count / 2)
    }

    @Test func `Event streams end with the service`() async throws {
        let service = try await LiveService()
        let listener = try await listen(service)
        _ = await listener.receive(until: ": listening")
        await service.beginToStop()
        #expect(String(decoding: await listener.receiveAll(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        try await service.ended()
    }

    @Test func `The number of listeners is limited, and disconnected ones free their slots`() async throws {
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
        try await pollUntil("a slot is free again") {
            service.feed.publish((0..<50).map { _ in .init(job: .make(), state: .queued) })
            let listener = try await listen(service)
            return await listener.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200")
        }
    }

    @Test func `A listener that reconnects gets exactly the changes that it has missed`() async throws {
        let service = try await LiveService()
        let jobs = (0..<4).map { _ in JobID.make() }
        let first = try await listen(service)
        _ = await first.receive(until: ": listening")
        service.feed.publish([.init(job: jobs[0], state: .queued)])
        let received = await first.receive(until: "queued\"}\n\n")
        let id = try #require(received.firstMatch(of: /id: ([0-9a-f]+-1-[0-9a-f-]+-queued)\n/)?.1)
        service.feed.publish(jobs[1...2].map { .init(job: $0, state: .running) })
        _ = await first.receive(until: "\(jobs[2])")
        let second = try await listen(service, after: String(id))
        service.feed.publish([.init(job: jobs[3], state: .dead)])
        let rest = await second.receive(until: "dead\"}\n\n")
        let seen = rest.matches(of: /data: {"id":"([0-9a-f-]+)"/).map { String($0.1) }
        #expect(seen == jobs.dropFirst().map(\.text) && !rest.contains("event: reset"))
    }

    @Test(arguments: ["0-1", "x", "ffffffff-99999999999999999999", ""])
    func `A listener with an id of another process is asked to load everything again`(id: String) async throws {
        let service = try await LiveService()
        let listener = try await listen(service, after: id)
        #expect(await listener.receive(until: "event: reset\ndata: {}\n\n").contains(": listening"))
    }

    private func listen(_ service: LiveService, after id: String? = nil) async throws -> RawConnection {
        let connection = try RawConnection(port: service.port)
        let last = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        try await connection.send(
            "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n\(last)\r\n")
        return connection
    }
}
