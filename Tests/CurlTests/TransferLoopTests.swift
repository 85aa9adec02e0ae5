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

    @Test func `A transfer delivers header lines and body`() async throws {
        server.serve("/cat", .body(Data("meow".utf8), type: "text/plain"))
        let log = TransferLog()
        let report = await loop.perform(settings("/cat"), observer: log)
        #expect(report.ending == .completed)
        #expect(report.httpVersion == "1.1")
        #expect(report.connectionsOpened == 1)
        #expect(log.body == Data("meow".utf8))
        #expect(log.headerLines.first == "HTTP/1.1 200 Answer\r\n")
        #expect(log.headerLines.last == "\r\n")
    }

    @Test func `The observer sees the address before the connection and before the request`() async {
        server.serve("/cat", .status(204))
        let log = TransferLog()
        _ = await loop.perform(settings("/cat"), observer: log)
        #expect(log.connectAddresses == ["127.0.0.1"])
        #expect(log.requestAddresses == ["127.0.0.1"])
    }

    @Test func `A connection that the observer rejects is never opened`() async {
        let log = TransferLog(rejectsConnections: true)
        let report = await loop.perform(settings("/cat"), observer: log)
        guard case .failed(let error) = report.ending else { return #expect(Bool(false), "\(report.ending)") }
        #expect(error.code == .couldNotConnect)
        #expect(server.connectionCount == 0)
    }

    @Test func `A request that the observer rejects is never sent, even on a reused connection`() async {
        server.serve("/cat", .body(Data("meow".utf8)))
        _ = await loop.perform(settings("/cat"), observer: TransferLog())
        let log = TransferLog(rejectsRequests: true)
        let report = await loop.perform(settings("/cat"), observer: log)
        #expect(log.connectAddresses.isEmpty)
        #expect(log.requestAddresses == ["127.0.0.1"])
        guard case .failed(let error) = report.ending else { return #expect(Bool(false), "\(report.ending)") }
        #expect(error.code == .abortedByCallback)
        #expect(server.requests.count == 1)
    }

    @Test func `A pinned name needs no name server`() async {
        server.serve("/cat", .status(204))
        var settings = settings("/cat")
        settings.url = "http://pinned.invalid:\(server.port)/cat"
        settings.pins = ["+pinned.invalid:\(server.port):127.0.0.1"]
        #expect(await loop.perform(settings, observer: TransferLog()).ending == .completed)
    }

    @Test func `Proxy environment variables are ignored`() async {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        defer { unsetenv("http_proxy") }
        server.serve("/cat", .status(204))
        #expect(await loop.perform(settings("/cat"), observer: TransferLog()).ending == .completed)
    }

    @Test func `A server that never responds runs into the first-byte limit`() async {
        server.serve("/slow", LoopbackResponse([.hang]))
        let report = await loop.perform(
            settings("/slow") { $0.firstByte = .milliseconds(50) }, observer: TransferLog())
        #expect(report.ending == .firstByteTimedOut)
    }

    @Test func `A server that falls silent runs into the stall limit`() async {
        server.serve("/stall", .start(of: Data(count: 100), bytes: 10).then(.hang))
        let report = await loop.perform(settings("/stall") { $0.stall = .milliseconds(50) }, observer: TransferLog())
        #expect(report.ending == .stalled)
    }

    @Test func `The deadline takes precedence over every other limit`() async {
        server.serve("/slow", LoopbackResponse([.hang]))
        let report = await loop.perform(
            settings("/slow") { $0.deadline = .now + .milliseconds(50) }, observer: TransferLog())
        #expect(report.ending == .deadlineReached)
    }

    @Test func `A cancelled task ends its transfer and closes the connection`() async {
        server.serve("/slow", LoopbackResponse([.hang]))
        let settings = settings("/slow")
        let waiting = Task { await loop.perform(settings, observer: TransferLog()) }
        await server.until { $0.requests.count == 1 }
        waiting.cancel()
        #expect(await waiting.value.ending == .cancelled)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A transfer cancelled before or after it was submitted ends once`() async {
        server.serve("/slow", LoopbackResponse([.hang]))
        let settings = settings("/slow")
        let transfers = (0..<50).map { _ in
            let waiting = Task { await loop.perform(settings, observer: TransferLog()) }
            waiting.cancel()
            return waiting
        }
        for transfer in transfers { #expect(await transfer.value.ending == .cancelled) }
    }

    @Test func `A released loop closes its connections`() async throws {
        server.serve("/cat", .body(Data("meow".utf8)))
        var loop: TransferLoop? = try TransferLoop(idleConnectionsMax: 4)
        _ = await loop?.perform(settings("/cat"), observer: TransferLog())
        #expect(server.openConnectionCount == 1)
        loop = nil
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A slow transfer does not block another one`() async {
        server.serve("/slow", LoopbackResponse([.hang]))
        server.serve("/cat", .status(204))
        let slow = settings("/slow")
        let waiting = Task { await loop.perform(slow, observer: TransferLog()) }
        await server.until { $0.requests.count == 1 }
        #expect(await loop.perform(settings("/cat"), observer: TransferLog()).ending == .completed)
        waiting.cancel()
        _ = await waiting.value
    }

    @Test func `A paused transfer reads no more until it is resumed`() async throws {
        let body = Data(repeating: 7, count: 2_000_000)
        let sent = LoopbackGate()
        server.serve(
            "/paused",
            LoopbackResponse.start(of: body, bytes: 400_000).then(.open(sent), .send(body.dropFirst(400_000))))
        let observer = TransferLog()
        observer.setPaused(true)
        let transfer = Task { await loop.perform(settings("/paused"), observer: observer) }
        await sent.waitUntilOpen()
        try await waitUntil("the first piece") { !observer.body.isEmpty }
        #expect(observer.body.count <= 65_536)
        observer.setPaused(false)
        loop.wakeUp()
        #expect(await transfer.value.ending == .completed)
        #expect(observer.body == body)
    }

    @Test func `An error after a pause is reported as the transfer's own`() async throws {
        let trailer = Data("4\r\nmeow\r\n0\r\nno colon in this\r\n\r\n".utf8)
        let head = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        server.serve("/paused", LoopbackResponse([.send(head + trailer), .hang]))
        let observer = TransferLog()
        observer.setPaused(true)
        let transfer = Task { await loop.perform(settings("/paused"), observer: observer) }
        try await waitUntil("the first piece") { !observer.body.isEmpty }
        observer.setPaused(false)
        loop.wakeUp()
        guard case .failed(let error) = await transfer.value.ending else {
            Issue.record("a line without a colon is no trailer")
            return
        }
        #expect(error.code != .writeError && error.code != nil, "\(error)")
    }

    @Test func `A paused transfer can be cancelled`() async throws {
        server.serve("/paused", LoopbackResponse.start(of: Data(count: 9_000_000), bytes: 100_000).then(.hang))
        let observer = TransferLog()
        observer.setPaused(true)
        let transfer = Task { await loop.perform(settings("/paused"), observer: observer) }
        try await waitUntil("the first piece") { !observer.body.isEmpty }
        transfer.cancel()
        #expect(await transfer.value.ending == .cancelled)
    }

    @Test func `Shutting down ends running transfers, closes connections and rejects new transfers`() async {
        server.serve("/slow", LoopbackResponse([.hang]))
        let settings = settings("/slow")
        let waiting = Task { await loop.perform(settings, observer: TransferLog()) }
        await server.until { $0.requests.count == 1 }
        await loop.shutdown()
        #expect(await waiting.value.ending == .cancelled)
        await server.until { $0.openConnectionCount == 0 }
        #expect(await loop.perform(settings, observer: TransferLog()).ending == .cancelled)
        await loop.shutdown()
    }

    @Test func `Transfers that start together share one HTTP/2 connection`() async throws {
        let server = try TLSFileServer(.http2)
        try server.folder.write("meow", to: "cat")
        let loop = try TransferLoop(idleConnectionsMax: 4)
        let limits = TransferLimits(
            connect: .seconds(30), firstByte: .seconds(30), stall: .seconds(30), deadline: .now + .seconds(60))
        var settings = TransferSettings(url: server.url("/cat"), limits: limits)
        settings.certificateAuthorityFile = try TestCertificates.shared.authorityFile
        let reports = await withTaskGroup(of: TransferReport.self) { group in
            for _ in 0..<10 {
                group.addTask { [settings] in await loop.perform(settings, observer: TransferLog()) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.allSatisfy { $0.ending == .completed && $0.httpVersion == "2" })
        #expect(reports.map(\.connectionsOpened).reduce(0, +) == 1)
        await loop.shutdown()
    }
}

/// Records a transfer; can reject its connections or requests.
final class TransferLog: TransferObserver {
    private struct State {
        var connectAddresses: [String] = []
        var requestAddresses: [String] = []
        var headerLines: [String] = []
        var body = Data()
        var isPaused = false
    }

    private let rejectsConnections: Bool
    private let rejectsRequests: Bool
    private let state = Mutex(State())

    init(rejectsConnections: Bool = false, rejectsRequests: Bool = false) {
        self.rejectsConnections = rejectsConnections
        self.rejectsRequests = rejectsRequests
    }

    var connectAddresses: [String] { state.withLock { $0.connectAddresses } }
    var requestAddresses: [String] { state.withLock { $0.requestAddresses } }
    var headerLines: [String] { state.withLock { $0.headerLines } }
    var body: Data { state.withLock { $0.body } }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func setPaused(_ isPaused: Bool) { state.withLock { $0.isPaused = isPaused } }

    func mayConnect(to address: String) -> Bool {
        state.withLock { $0.connectAddresses.append(address) }
        return !rejectsConnections
    }

    func maySendRequest(to address: String) -> Bool {
        state.withLock { $0.requestAddresses.append(address) }
        return !rejectsRequests
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
