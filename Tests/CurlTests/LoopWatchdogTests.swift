import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Curl

/// libcurl blocked inside one of its own calls (issue 18): nothing may depend on its callbacks.
///
/// It reads the file of trusted certificates while it prepares a TLS connection. A named pipe without a writer
/// blocks it there, in `open`, until the test releases it.
@Suite(.timeLimit(.minutes(1)), .serialized) struct LoopWatchdogTests {
    private let server: LoopbackServer
    private let loop: TransferLoop
    private let pipe: CertificatePipe
    private let abandoned = AbandonedCounts()

    init() throws {
        server = try LoopbackServer()
        server.serve("/cat", .body(Data("meow".utf8)))
        server.serve("/slow", LoopbackResponse([.hang]))
        loop = try TransferLoop(idleConnectionsMax: 4) { [abandoned] in abandoned.add($0) }
        pipe = try CertificatePipe()
    }

    private func settings(_ path: String, within time: Duration) -> TransferSettings {
        TransferSettings(
            url: server.url(path),
            limits: TransferLimits(
                connect: .seconds(30), firstByte: .seconds(30), stall: .seconds(30), deadline: .now + time))
    }

    /// A transfer that blocks libcurl when this returns; transfers started before would be processed together with it.
    private func blockingTransfer(within time: Duration, _ log: TransferLog = TransferLog()) async throws
        -> Task<TransferReport, Never>
    {
        let before = CertificatePipe.waitingThreads
        var blocking = settings("/cat", within: time)
        blocking.url = blocking.url.replacing("http:", with: "https:")
        blocking.certificateAuthorityFile = pipe.path
        let transfer = Task { [loop, blocking] in await loop.perform(blocking, observer: log) }
        try await waitUntil("libcurl in the pipe") { CertificatePipe.waitingThreads > before }
        return transfer
    }

    /// Releases libcurl, and waits until its thread has cleaned up.
    private func release() async throws {
        pipe.release()
        try await waitUntil("the abandoned thread") { loop.stuckCount == 0 }
    }

    @Test func `A call that never returns ends at the deadline, and new transfers continue`() async throws {
        let log = TransferLog()
        let stuck = try await blockingTransfer(within: .milliseconds(300), log)
        let next = Task { [loop, next = settings("/cat", within: .seconds(30))] in
            await loop.perform(next, observer: TransferLog())
        }
        #expect(await stuck.value.ending == .deadlineReached)
        #expect(await next.value.ending == .completed)
        #expect(
            await loop.perform(settings("/cat", within: .seconds(30)), observer: TransferLog()).ending == .completed)
        #expect(loop.abandonedCount == 1 && loop.stuckCount == 1 && abandoned.counts == [1])
        try await release()
        // An abandoned transfer's observer is no longer called.
        #expect(log.headerLines.isEmpty && log.requestAddresses.isEmpty)
        await server.until { $0.openConnectionCount <= 1 }
        await loop.shutdown()
    }

    @Test func `A concurrent transfer with time left is abandoned, and can be retried`() async throws {
        // Another server: libcurl would otherwise let the other request wait for this one's connection.
        let other = try LoopbackServer()
        other.serve("/slow", LoopbackResponse([.hang]))
        var slow = settings("/slow", within: .seconds(30))
        slow.url = other.url("/slow")
        let beside = Task { [loop, slow] in await loop.perform(slow, observer: TransferLog()) }
        await other.until { $0.requests.count == 1 }
        let stuck = try await blockingTransfer(within: .milliseconds(300))
        #expect(await stuck.value.ending == .deadlineReached)
        #expect(await beside.value.ending == .abandoned)
        try await release()
        await loop.shutdown()
    }

    @Test func `A transfer queued behind a stuck one ends at its own deadline`() async throws {
        let stuck = try await blockingTransfer(within: .seconds(40))
        let waiting = await loop.perform(settings("/slow", within: .milliseconds(300)), observer: TransferLog())
        #expect(waiting.ending == .deadlineReached)
        #expect(await stuck.value.ending == .abandoned)
        try await release()
        await loop.shutdown()
    }

    @Test func `Shutting down does not wait for a stuck transfer`() async throws {
        let stuck = try await blockingTransfer(within: .seconds(50))
        let start = ContinuousClock.now
        await loop.shutdown()
        #expect(start.duration(to: .now) < .seconds(10))
        #expect(await stuck.value.ending == .cancelled)
        #expect(
            await loop.perform(settings("/cat", within: .seconds(5)), observer: TransferLog()).ending == .cancelled)
        try await release()
    }

    @Test func `A cancelled transfer does not wait for the stuck thread`() async throws {
        let stuck = try await blockingTransfer(within: .seconds(50))
        stuck.cancel()
        #expect(await stuck.value.ending == .cancelled)
        try await release()
        #expect(
            await loop.perform(settings("/cat", within: .seconds(30)), observer: TransferLog()).ending == .completed)
        await loop.shutdown()
    }

    @Test func `With too many stuck threads no transfer starts until one returns`() async throws {
        for _ in 1...4 {
            #expect(try await blockingTransfer(within: .milliseconds(100)).value.ending == .deadlineReached)
        }
        #expect(loop.stuckCount == 4)
        let rejected = await loop.perform(settings("/cat", within: .seconds(30)), observer: TransferLog())
        guard case .failed = rejected.ending else { return #expect(Bool(false), "\(rejected.ending)") }
        try await release()
        #expect(
            await loop.perform(settings("/cat", within: .seconds(30)), observer: TransferLog()).ending == .completed)
        #expect(abandoned.counts == [1, 2, 3, 4])
        await loop.shutdown()
    }
}

/// A named pipe instead of a certificate file: opening it blocks until it is released.
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
            // proc(5): the number of the system call in which the thread sleeps comes first, otherwise there is text.
            let call = (try? String(contentsOfFile: "/proc/self/task/\(task)/syscall", encoding: .utf8)) ?? ""
            return call.hasPrefix("\(openatNumber) ")
        }
    }

    deinit { release() }

    /// Opening it for reading and writing unblocks all waiting threads; they read its end once it is closed.
    func release() {
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        // Later threads find an empty file.
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
