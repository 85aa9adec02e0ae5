import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Curl

@Suite(.timeLimit(.minutes(1))) struct TransferLoopTests {
    let server: LoopbackServer
    let loop: TransferLoop

    init() throws {
        server = try LoopbackServer()
        loop = try TransferLoop(idleConnectionsMax: 4)
    }

    private func settings(_ path: String, _ change: (inout TransferLimits) -> Void = { _ in }) -> TransferSettings {
        var limits = TransferLimits(
            connect: .seconds(30), firstByte: .seconds(30), stall: .seconds(30), deadline: .now + .seconds(60))
        change(&limits)
        return TransferSettings(url: server.url(path), limits: limits)
    }

    @Test func `A transfer hands over header lines and body`() async throws {
        server.serve("/cat", .body(Data("meow".utf8), type: "text/plain"))
        let seen = SeenTransfer()
        let report = await loop.perform(settings("/cat"), observer: seen)
        #expect(report.ending == .completed)
        #expect(report.httpVersion == "1.1")
        #expect(report.connectionsOpened == 1)
        #expect(seen.body == Data("meow".utf8))
        #expect(seen.headerLines.first == "HTTP/1.1 200 Answer\r\n")
        #expect(seen.headerLines.last == "\r\n")
    }

    @Test func `The observer sees the address before the connection and before the request`() async {
        server.serve("/cat", .status(204))
        let seen = SeenTransfer()
        _ = await loop.perform(settings("/cat"), observer: seen)
        #expect(seen.connectAddresses == ["127.0.0.1"])
        #expect(seen.requestAddresses == ["127.0.0.1"])
    }

    @Test func `A connection the observer refuses is never opened`() async {
        let seen = SeenTransfer(refusesConnections: true)
        let report = await loop.perform(settings("/cat"), observer: seen)
        guard case .failed(let error) = report.ending else { return #expect(Bool(false), "\(report.ending)") }
        #expect(error.code == .couldNotConnect)
        #expect(server.connectionCount == 0)
    }

    @Test func `A request the observer refuses is never sent, on a reused connection neither`() async {
        server.serve("/cat", .body(Data("meow".utf8)))
        _ = await loop.perform(settings("/cat"), observer: SeenTransfer())
        let seen = SeenTransfer(refusesRequests: true)
        let report = await loop.perform(settings("/cat"), observer: seen)
        #expect(seen.connectAddresses.isEmpty)
        #expect(seen.requestAddresses == ["127.0.0.1"])
        guard case .failed(let error) = report.ending else { return #expect(Bool(false), "\(report.ending)") }
        #expect(error.code == .abortedByCallback)
        #expect(server.requests.count == 1)
    }

    @Test func `A pinned name needs no name server`() async {
        server.serve("/cat", .status(204))
        var settings = settings("/cat")
        settings.url = "http://pinned.invalid:\(server.port)/cat"
        settings.pins = ["+pinned.invalid:\(server.port):127.0.0.1"]
        #expect(await loop.perform(settings, observer: SeenTransfer()).ending == .completed)
    }

    @Test func `Proxy variables of the environment are ignored`() async {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        defer { unsetenv("http_proxy") }
        server.serve("/cat", .status(204))
        #expect(await loop.perform(settings("/cat"), observer: SeenTransfer()).ending == .completed)
    }

    @Test func `A server that never answers runs into the first byte's limit`() async {
        server.serve("/slow", LoopbackAnswer([.hang]))
        let report = await loop.perform(
            settings("/slow") { $0.firstByte = .milliseconds(50) }, observer: SeenTransfer())
        #expect(report.ending == .firstByteTimedOut)
    }

    @Test func `A server that falls silent runs into the stall limit`() async {
        server.serve("/stall", .start(of: Data(count: 100), bytes: 10).then(.hang))
        let report = await loop.perform(settings("/stall") { $0.stall = .milliseconds(50) }, observer: SeenTransfer())
        #expect(report.ending == .stalled)
    }

    @Test func `The deadline comes before every other limit`() async {
        server.serve("/slow", LoopbackAnswer([.hang]))
        let report = await loop.perform(
            settings("/slow") { $0.deadline = .now + .milliseconds(50) }, observer: SeenTransfer())
        #expect(report.ending == .deadlineReached)
    }

    @Test func `A cancelled task ends its transfer and closes the connection`() async {
        server.serve("/slow", LoopbackAnswer([.hang]))
        let settings = settings("/slow")
        let waiting = Task { await loop.perform(settings, observer: SeenTransfer()) }
        await server.until { $0.requests.count == 1 }
        waiting.cancel()
        #expect(await waiting.value.ending == .cancelled)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A transfer cancelled before and after it was ordered ends once`() async {
        server.serve("/slow", LoopbackAnswer([.hang]))
        let settings = settings("/slow")
        let transfers = (0..<50).map { _ in
            let waiting = Task { await loop.perform(settings, observer: SeenTransfer()) }
            waiting.cancel()
            return waiting
        }
        for transfer in transfers { #expect(await transfer.value.ending == .cancelled) }
    }

    @Test func `A loop that is let go closes its connections`() async throws {
        server.serve("/cat", .body(Data("meow".utf8)))
        var loop: TransferLoop? = try TransferLoop(idleConnectionsMax: 4)
        _ = await loop?.perform(settings("/cat"), observer: SeenTransfer())
        #expect(server.openConnectionCount == 1)
        loop = nil
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A slow transfer does not hold up another one`() async {
        server.serve("/slow", LoopbackAnswer([.hang]))
        server.serve("/cat", .status(204))
        let slow = settings("/slow")
        let waiting = Task { await loop.perform(slow, observer: SeenTransfer()) }
        await server.until { $0.requests.count == 1 }
        #expect(await loop.perform(settings("/cat"), observer: SeenTransfer()).ending == .completed)
        waiting.cancel()
        _ = await waiting.value
    }

    @Test func `A transfer that is held reads no more until it is let go`() async throws {
        let body = Data(repeating: 7, count: 2_000_000)
        let sent = LoopbackGate()
        server.serve(
            "/held", LoopbackAnswer.start(of: body, bytes: 400_000).then(.open(sent), .send(body.dropFirst(400_000))))
        let observer = SeenTransfer()
        observer.hold(true)
        let transfer = Task { await loop.perform(settings("/held"), observer: observer) }
        await sent.untilOpen()
        try await waitUntil("the first piece") { !observer.body.isEmpty }
        #expect(observer.body.count <= 65_536)
        observer.hold(false)
        loop.wakeUp()
        #expect(await transfer.value.ending == .completed)
        #expect(observer.body == body)
    }

    @Test func `What is wrong behind the place of a hold is the transfer's own failure`() async throws {
        let trailer = Data("4\r\nmeow\r\n0\r\nno colon in this\r\n\r\n".utf8)
        let head = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        server.serve("/held", LoopbackAnswer([.send(head + trailer), .hang]))
        let observer = SeenTransfer()
        observer.hold(true)
        let transfer = Task { await loop.perform(settings("/held"), observer: observer) }
        try await waitUntil("the first piece") { !observer.body.isEmpty }
        observer.hold(false)
        loop.wakeUp()
        guard case .failed(let error) = await transfer.value.ending else {
            Issue.record("a line without a colon is no trailer")
            return
        }
        #expect(error.code != .writeError && error.code != nil, "\(error)")
    }

    @Test func `A transfer that is held can be cancelled`() async throws {
        server.serve("/held", LoopbackAnswer.start(of: Data(count: 9_000_000), bytes: 100_000).then(.hang))
        let observer = SeenTransfer()
        observer.hold(true)
        let transfer = Task { await loop.perform(settings("/held"), observer: observer) }
        try await waitUntil("the first piece") { !observer.body.isEmpty }
        transfer.cancel()
        #expect(await transfer.value.ending == .cancelled)
    }

    @Test func `Shutting down ends what runs, closes what is open, and refuses what comes later`() async {
        server.serve("/slow", LoopbackAnswer([.hang]))
        let settings = settings("/slow")
        let waiting = Task { await loop.perform(settings, observer: SeenTransfer()) }
        await server.until { $0.requests.count == 1 }
        await loop.shutdown()
        #expect(await waiting.value.ending == .cancelled)
        await server.until { $0.openConnectionCount == 0 }
        #expect(await loop.perform(settings, observer: SeenTransfer()).ending == .cancelled)
        await loop.shutdown()
    }
}

/// Records a transfer, and refuses what it is told to.
final class SeenTransfer: TransferObserver {
    private struct State {
        var connectAddresses: [String] = []
        var requestAddresses: [String] = []
        var headerLines: [String] = []
        var body = Data()
        var isPaused = false
    }

    private let refusesConnections: Bool
    private let refusesRequests: Bool
    private let state = Mutex(State())

    init(refusesConnections: Bool = false, refusesRequests: Bool = false) {
        self.refusesConnections = refusesConnections
        self.refusesRequests = refusesRequests
    }

    var connectAddresses: [String] { state.withLock { $0.connectAddresses } }
    var requestAddresses: [String] { state.withLock { $0.requestAddresses } }
    var headerLines: [String] { state.withLock { $0.headerLines } }
    var body: Data { state.withLock { $0.body } }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func hold(_ isPaused: Bool) { state.withLock { $0.isPaused = isPaused } }

    func mayConnect(to address: String) -> Bool {
        state.withLock { $0.connectAddresses.append(address) }
        return !refusesConnections
    }

    func maySendRequest(to address: String) -> Bool {
        state.withLock { $0.requestAddresses.append(address) }
        return !refusesRequests
    }

    func received(headerLine: UnsafeRawBufferPointer) -> Bool {
        let line = String(decoding: headerLine, as: UTF8.self)
        state.withLock { $0.headerLines.append(line) }
        return true
    }

    var hasHead: Bool { state.withLock { $0.headerLines.last == "\r\n" } }

    func received(body: UnsafeRawBufferPointer, bytesSent: Int) -> Bool {
        let piece = Data(body)
        state.withLock { $0.body += piece }
        return true
    }
}
