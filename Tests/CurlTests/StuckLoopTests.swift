import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Curl

/// libcurl held inside one of its own calls (issue 18): nothing may depend on its calling back.
///
/// It reads the file of trusted certificates while it prepares a TLS connection. A named pipe that nobody writes to
/// holds it there, in `open`, until the test lets it go.
@Suite(.timeLimit(.minutes(1)), .serialized) struct StuckLoopTests {
    private let server: LoopbackServer
    private let loop: TransferLoop
    private let pipe: CertificatePipe
    private let abandoned = AbandonedCounts()

    init() throws {
        server = try LoopbackServer()
        server.serve("/cat", .body(Data("meow".utf8)))
        server.serve("/slow", LoopbackAnswer([.hang]))
        loop = try TransferLoop(idleConnectionsMax: 4) { [abandoned] in abandoned.add($0) }
        pipe = try CertificatePipe()
    }

    private func settings(_ path: String, within time: Duration) -> TransferSettings {
        TransferSettings(
            url: server.url(path),
            limits: TransferLimits(
                connect: .seconds(30), firstByte: .seconds(30), stall: .seconds(30), deadline: .now + time))
    }

    /// A transfer that holds libcurl when this returns; what is begun before that would be taken up together with it.
    private func holdingTransfer(within time: Duration, _ seen: SeenTransfer = SeenTransfer()) async throws
        -> Task<TransferReport, Never>
    {
        let before = CertificatePipe.waitingThreads
        var holding = settings("/cat", within: time)
        holding.url = holding.url.replacing("http:", with: "https:")
        holding.certificateAuthorityFile = pipe.path
        let transfer = Task { [loop, holding] in await loop.perform(holding, observer: seen) }
        try await waitUntil("libcurl in the pipe") { CertificatePipe.waitingThreads > before }
        return transfer
    }

    /// Lets libcurl go, and waits until its thread has put everything away.
    private func release() async throws {
        pipe.release()
        try await waitUntil("the abandoned thread") { loop.stuckCount == 0 }
    }

    @Test func `A call that does not come back ends at the deadline, and new transfers go on`() async throws {
        let seen = SeenTransfer()
        let stuck = try await holdingTransfer(within: .milliseconds(300), seen)
        let next = Task { [loop, next = settings("/cat", within: .seconds(30))] in
            await loop.perform(next, observer: SeenTransfer())
        }
        #expect(await stuck.value.ending == .deadlineReached)
        #expect(await next.value.ending == .completed)
        #expect(
            await loop.perform(settings("/cat", within: .seconds(30)), observer: SeenTransfer()).ending == .completed)
        #expect(loop.abandonedCount == 1 && loop.stuckCount == 1 && abandoned.counts == [1])
        try await release()
        // Nobody is called any more for what was given up.
        #expect(seen.headerLines.isEmpty && seen.requestAddresses.isEmpty)
        await server.until { $0.openConnectionCount <= 1 }
        await loop.shutdown()
    }

    @Test func `A transfer beside it that had more time may be tried again`() async throws {
        // A server of its own: libcurl would have the other request wait for what this one says of the connection.
        let other = try LoopbackServer()
        other.serve("/slow", LoopbackAnswer([.hang]))
        var slow = settings("/slow", within: .seconds(30))
        slow.url = other.url("/slow")
        let beside = Task { [loop, slow] in await loop.perform(slow, observer: SeenTransfer()) }
        await other.until { $0.requests.count == 1 }
        let stuck = try await holdingTransfer(within: .milliseconds(300))
        #expect(await stuck.value.ending == .deadlineReached)
        #expect(await beside.value.ending == .abandoned)
        try await release()
        await loop.shutdown()
    }

    @Test func `Who waits behind it ends at its own deadline`() async throws {
        let stuck = try await holdingTransfer(within: .seconds(40))
        let waiting = await loop.perform(settings("/slow", within: .milliseconds(300)), observer: SeenTransfer())
        #expect(waiting.ending == .deadlineReached)
        #expect(await stuck.value.ending == .abandoned)
        try await release()
        await loop.shutdown()
    }

    @Test func `Shutting down does not wait for it`() async throws {
        let stuck = try await holdingTransfer(within: .seconds(50))
        let start = ContinuousClock.now
        await loop.shutdown()
        #expect(start.duration(to: .now) < .seconds(10))
        #expect(await stuck.value.ending == .cancelled)
        #expect(
            await loop.perform(settings("/cat", within: .seconds(5)), observer: SeenTransfer()).ending == .cancelled)
        try await release()
    }

    @Test func `A cancelled transfer does not wait for it`() async throws {
        let stuck = try await holdingTransfer(within: .seconds(50))
        stuck.cancel()
        #expect(await stuck.value.ending == .cancelled)
        try await release()
        #expect(
            await loop.perform(settings("/cat", within: .seconds(30)), observer: SeenTransfer()).ending == .completed)
        await loop.shutdown()
    }

    @Test func `With too many threads stuck no transfer is begun, until one comes back`() async throws {
        for _ in 1...4 {
            #expect(try await holdingTransfer(within: .milliseconds(100)).value.ending == .deadlineReached)
        }
        #expect(loop.stuckCount == 4)
        let refused = await loop.perform(settings("/cat", within: .seconds(30)), observer: SeenTransfer())
        guard case .failed = refused.ending else { return #expect(Bool(false), "\(refused.ending)") }
        try await release()
        #expect(
            await loop.perform(settings("/cat", within: .seconds(30)), observer: SeenTransfer()).ending == .completed)
        #expect(abandoned.counts == [1, 2, 3, 4])
        await loop.shutdown()
    }
}

/// A named pipe in the place of a file of certificates: whoever opens it waits until it is released.
private final class CertificatePipe: Sendable {
    let path: String
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        path = folder.url.appending(path: "authorities.pem").path
        try #require(mkfifo(path, 0o600) == 0)
    }

    #if arch(x86_64)
        private static let openatNumber = 257
    #else
        private static let openatNumber = 56
    #endif

    /// Threads of this process that sleep in `openat`, as only a named pipe makes them.
    static var waitingThreads: Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            // proc(5): the number of the system call that a thread sleeps in comes first, else there is a word.
            let call = (try? String(contentsOfFile: "/proc/self/task/\(task)/syscall", encoding: .utf8)) ?? ""
            return call.hasPrefix("\(openatNumber) ")
        }
    }

    deinit { release() }

    /// Opened for both directions, it lets all of those who wait go on; they read its end when it is closed.
    func release() {
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        // Whoever comes later finds an empty file.
        unlink(path)
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        if descriptor >= 0 { close(descriptor) }
    }
}

private final class AbandonedCounts: Sendable {
    private let all = Mutex<[Int]>([])
    var counts: [Int] { all.withLock(\.self) }
    func add(_ count: Int) { all.withLock { $0.append(count) } }
}
