import Foundation
import Synchronization
import TestSupport
import Testing

/// Cameras whose snapshot and clip appear seconds after the event: with the real service, its queue and its webhooks.
@Suite(.timeLimit(.minutes(5))) struct CameraTests {
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    let bench: ServiceBench
    let cameras: LoopbackServer
    let receiver: LoopbackServer

    init() throws {
        (bench, cameras, receiver) = (try ServiceBench(), try LoopbackServer(), try LoopbackServer())
        receiver.serve("/in", .status(204))
    }

    private func start(_ options: [String] = [], environment: [String: String?] = [:]) async throws -> RunningService {
        let own: [String: String?] = ["ATTACHPREP_WEBHOOK_SECRETS": Self.secret]
        return try await bench.start(
            ["--allow-callback-network", "127.0.0.0/8"] + options, environment: own.merging(environment) { $1 })
    }

    /// A request for the clip of an event, with its snapshot as fallback.
    private func request(_ event: String, wait: Double = 30, budget: Double = 60) -> String {
        """
        {"source": "\(cameras.url("/\(event)/clip.mp4"))", "fallbacks": ["\(cameras.url("/\(event)/snapshot.jpg"))"], \
        "partial": true, "wait": \(wait), "budget": \(budget), "id": "\(event)", \
        "callbackURL": "\(receiver.url("/in"))", \
        "payload": {"aps": {"alert": {"title": "Door"}, "mutable-content": 1}}}
        """
    }

    private func serve(_ event: String, _ file: String, _ sample: String, type: String, when isThere: LoopbackGate)
        throws
    {
        let data = try Data(contentsOf: URL(filePath: SourceTree.sample(sample)))
        let opened = Mutex(false)
        Task {
            await isThere.waitUntilOpen()
            opened.withLock { $0 = true }
        }
        cameras.serve("/\(event)/\(file)") { _ in
            opened.withLock { $0 } ? .body(data, type: type) : .status(404)
        }
    }

    // JSON values of Foundation, which are never changed.
    private struct Event: @unchecked Sendable {
        let type: String
        let body: [String: Any]
        let id: String

        var data: [String: Any] { body["data"] as? [String: Any] ?? [:] }
        var push: [String: Any] { body["push"] as? [String: Any] ?? [:] }
        var mimeType: String? { (data["attachment"] as? [String: Any])?["mimeType"] as? String }
        var url: String? { (data["attachment"] as? [String: Any])?["url"] as? String }
    }

    private func events() throws -> [Event] {
        try receiver.requests.map { request in
            let body = try #require(try JSONSerialization.jsonObject(with: request.body) as? [String: Any])
            return Event(
                type: body["type"] as? String ?? "", body: body, id: request.headers["webhook-id"] ?? "")
        }
    }

    private func expectBoth(_ service: RunningService) async throws {
        let events = try events()
        #expect(events.map(\.type) == ["attachment.partial", "attachment.prepared"])
        #expect(events.map(\.mimeType) == ["image/jpeg", "video/mp4"])
        #expect(events.map { $0.data["id"] as? String } == ["event", "event"])
        #expect(events.map { $0.data["partial"] as? Bool } == [true, nil])
        for event in events {
            #expect(event.push["headers"] as? [String: String] == ["apns-collapse-id": "event"])
            let payload = try #require(event.push["payload"] as? [String: Any])
            let attachments = (payload["attachprep"] as? [String: Any])?["attachments"] as? [[String: Any]]
            #expect(attachments?.first?["url"] as? String == event.url)
            #expect(try await service.client.get(try #require(event.url)).status == 200)
        }
    }

    @Test func `The snapshot is reported at once and the clip later, with one collapse ID`() async throws {
        let (now, later) = (LoopbackGate(), LoopbackGate())
        now.open()
        try serve("event", "snapshot.jpg", "grid.jpg", type: "image/jpeg", when: now)
        try serve("event", "clip.mp4", "clock.mp4", type: "video/mp4", when: later)
        let service = try await start()
        let id = try await service.client.submit(request("event"))
        await receiver.until { !$0.requests.isEmpty }
        let waiting = try await service.client.job(id)
        #expect(waiting.state == "running" && waiting.result == nil)
        #expect((waiting.json["partial"] as? [String: Any])?["partial"] as? Bool == true)
        #expect(waiting.json["push"] != nil)
        later.open()
        await receiver.until { $0.requests.count == 2 }
        let job = try await service.client.ended(id)
        #expect(job.json["partial"] == nil && job.file("attachment")?.url.hasSuffix(".mp4") == true)
        try await expectBoth(service)
        try await service.stop()
    }

    @Test func `A partial result survives kill -9, and is sent with one ID`() async throws {
        let (now, later) = (LoopbackGate(), LoopbackGate())
        now.open()
        try serve("event", "snapshot.jpg", "grid.jpg", type: "image/jpeg", when: now)
        try serve("event", "clip.mp4", "clock.mp4", type: "video/mp4", when: later)
        let killed = try await start()
        let id = try await killed.client.submit(request("event"))
        await receiver.until { !$0.requests.isEmpty }
        try await killed.kill()
        let service = try await start()
        #expect(try await service.client.job(id).json["partial"] != nil)
        later.open()
        _ = try await service.client.ended(id)
        try await pollUntil("the final webhook") { try events().last?.type == "attachment.prepared" }
        let partials = try events().filter { $0.type == "attachment.partial" }
        #expect(Set(partials.map(\.id)).count == 1)
        #expect(cameras.requests(to: "/event/snapshot.jpg").count == 1)
        try await service.stop()
    }

    @Test func `It works on a shared queue with a bucket, and both files stay there`() async throws {
        let (server, store) = (try await NATSServer.start(), try await ObjectStore.shared())
        let environment = store.environment.merging([
            "ATTACHPREP_PUBLISH": "s3://\(ObjectStore.bucket)/cameras-\(UUID().uuidString)",
            "ATTACHPREP_QUEUE": server.url,
        ]) { $1 }.mapValues { Optional($0) }
        let (now, later) = (LoopbackGate(), LoopbackGate())
        now.open()
        try serve("event", "snapshot.jpg", "grid.jpg", type: "image/jpeg", when: now)
        try serve("event", "clip.mp4", "clock.mp4", type: "video/mp4", when: later)
        let service = try await start(environment: environment)
        let id = try await service.client.submit(request("event"))
        await receiver.until { !$0.requests.isEmpty }
        #expect(try await service.client.job(id).json["partial"] != nil)
        later.open()
        await receiver.until { $0.requests.count == 2 }
        #expect(try await service.client.ended(id).state == "succeeded")
        let events = try events()
        #expect(events.map(\.mimeType) == ["image/jpeg", "video/mp4"])
        #expect(Set(events.compactMap(\.url)).count == 2)
        for event in events { #expect(event.url?.hasPrefix(store.url) == true, "\(event.url ?? "")") }
        try await service.stop()
    }

    @Test func `A payload is answered with the snapshot, and again with the clip`() async throws {
        let (now, later) = (LoopbackGate(), LoopbackGate())
        now.open()
        try serve("event", "snapshot.jpg", "grid.jpg", type: "image/jpeg", when: now)
        try serve("event", "clip.mp4", "clock.mp4", type: "video/mp4", when: later)
        let service = try await start()
        let body = """
            {"payload": {"aps": {"alert": "Door", "mutable-content": 1}, "attach": "\(cameras.url("/event/clip.mp4"))"},
             "request": {"fallbacks": ["\(cameras.url("/event/snapshot.jpg"))"], "partial": true, "wait": 30,
             "budget": 60}}
            """
        let first = try await service.client.send("POST", "/v1/payloads", body: body).text
        #expect(first.contains("public.jpeg") && first.contains("\"partial\":true"), "\(first)")
        later.open()
        try await pollUntil("the clip") {
            try await service.client.send("POST", "/v1/payloads", body: body).text.contains("public.mpeg-4")
        }
        try await service.stop()
    }

    // MARK: Many cameras

    /// How many seconds passed from when a camera first had a file until the service sent its first event, at most.
    @Test(arguments: [12]) func `Cameras that are late are all served, with other work beside them`(count: Int)
        async throws
    {
        let longest = try await late(cameras: count, seconds: 2, options: ["--concurrency", "2", "--per-host", "2"])
        #expect(longest < 3, "\(longest)")
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] == "1"))
    func `200 cameras that are up to 20 s late have a first result within a second, and all have a clip`() async throws
    {
        let longest = try await late(cameras: 200, seconds: 20, options: [])
        print("first result of 200 cameras after \(longest) s at most")
        #expect(longest < 1, "\(longest)")
    }

    /// Submits an event for each camera; the snapshots appear one after the other, each clip some time later.
    ///
    /// - Returns: the longest time from the first byte of a camera to its first event, in seconds.
    private func late(cameras count: Int, seconds: Double, options: [String]) async throws -> Double {
        let snapshot = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        let clip = try Data(contentsOf: URL(filePath: SourceTree.sample("clock.mp4")))
        let firstBytes = Mutex<[String: Date]>([:])
        let firstEvents = Mutex<[String: Date]>([:])
        let prepared = Mutex<Set<String>>([])
        receiver.serve("/in") { request in
            guard let body = try? JSONSerialization.jsonObject(with: request.body) as? [String: Any],
                let data = body["data"] as? [String: Any], let id = data["id"] as? String
            else { return .status(400) }
            firstEvents.withLock { if $0[id] == nil { $0[id] = .now } }
            let type = (data["attachment"] as? [String: Any])?["mimeType"] as? String
            if body["type"] as? String == "attachment.prepared", type == "video/mp4" {
                prepared.withLock { _ = $0.insert(id) }
            }
            return .status(204)
        }
        let service = try await start(options)
        let begin = Date.now
        for number in 0..<count {
            let (id, late) = ("event-\(number)", seconds * Double(number) / Double(count))
            cameras.serve("/\(id)/snapshot.jpg") { _ in
                guard Date.now.timeIntervalSince(begin) >= late else { return .status(404) }
                firstBytes.withLock { if $0[id] == nil { $0[id] = .now } }
                return .body(snapshot, type: "image/jpeg")
            }
            cameras.serve("/\(id)/clip.mp4") { _ in
                Date.now.timeIntervalSince(begin) >= late + min(3, seconds)
                    ? .body(clip, type: "video/mp4") : .status(404)
            }
        }
        let ids = try await service.client.submit(lines: (0..<count).map { request("event-\($0)") })
        #expect(ids.count == count)
        // Work that has nothing to wait for is not held up by the cameras.
        let other = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))"}"#)
        #expect(try await service.client.ended(other, seconds: 10).state == "succeeded")
        try await pollUntil("all clips are reported", seconds: 120) { prepared.withLock { $0.count } == count }
        try await service.stop()
        let delays = firstBytes.withLock { bytes in
            firstEvents.withLock { events in
                bytes.compactMap { id, date in events[id]?.timeIntervalSince(date) }
            }
        }
        #expect(delays.count == count)
        return delays.max() ?? .infinity
    }
}
