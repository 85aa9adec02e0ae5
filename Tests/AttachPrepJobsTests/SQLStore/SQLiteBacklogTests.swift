import AttachPrep
import AttachPrepJobs
import MediaTypes
import Testing

/// Jobs that cannot run now do not block those that can.
@Suite struct SQLiteBacklogTests {
    @Test func `A busy host's backlog does not block other hosts, and runs in order`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let slow = try await sqlite.store.enqueue(
            (0..<500).map { _ in .sample(host: "slow.example") }, idempotency: nil)
        sqlite.clock.advance(1)
        let other = try await sqlite.driver.enqueue(.sample(host: "other.example"))
        let first = try await sqlite.driver.claim(10, hostLimit: 2)
        #expect(first.map(\.job.id) == slow.jobs[0..<2].map(\.id) + other)
        var order = first.filter { $0.request.source.contains("slow") }
        var running = order.map(\.lease)
        while !running.isEmpty {
            _ = try await sqlite.store.finish(running.removeFirst(), .cancelled, notice: nil)
            let next = try await sqlite.driver.claim(10, hostLimit: 2)
            order += next
            running += next.map(\.lease)
        }
        #expect(order.map(\.job.id) == slow.jobs.map(\.id))
    }

    @Test func `Hundreds of jobs with the same work key run one after the other`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let same = try await sqlite.store.enqueue(
            (0..<300).map { _ in .sample(key: "same", priority: .high) }, idempotency: nil)
        let other = try await sqlite.driver.enqueue(.sample(host: "cdn.example"))
        var claimed = try await sqlite.driver.claim(10)
        #expect(Set(claimed.map(\.job.id)) == [same.jobs[0].id, other[0]])
        var order: [JobID] = []
        while let one = claimed.first {
            for lease in claimed.map(\.lease) { _ = try await sqlite.store.finish(lease, .cancelled, notice: nil) }
            order.append(one.job.id)
            claimed = try await sqlite.driver.claim(10)
        }
        #expect(order.count == 300 && order.sorted() == same.jobs.map(\.id).sorted())
    }

    @Test func `A bulk retry of hundreds of jobs queues each of them once`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let jobs = try await sqlite.store.enqueue((0..<450).map { _ in .sample() }, idempotency: nil).jobs
        for job in jobs { _ = try await sqlite.store.cancel(job.id) }
        #expect(try await sqlite.store.retry(JobFilter(states: [.cancelled])) == 450)
        #expect(try await sqlite.store.counts().due == 450)
    }

    @Test func `Parked jobs are due, can be cancelled, and run when the host limit is raised`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let slow = try await sqlite.store.enqueue(
            (0..<200).map { _ in .sample(host: "slow.example") }, idempotency: nil)
        #expect(try await sqlite.driver.claim(50, hostLimit: 1).count == 1)
        #expect(try await sqlite.store.counts().due == 199)
        #expect(try await sqlite.store.cancel(slow.jobs[1].id).state == .cancelled)
        let more = try await sqlite.driver.claim(50, hostLimit: 5)
        #expect(more.map(\.job.id) == slow.jobs[2..<6].map(\.id))
    }

    @Test func `No parked job is lost when another process opens the store`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let folder = sqlite.folder
        _ = try await sqlite.store.enqueue((0..<200).map { _ in .sample(host: "slow.example") }, idempotency: nil)
        _ = try await sqlite.driver.claim(50, hostLimit: 1)
        let command = try await SQLiteUnderTest(folder: folder, clock: sqlite.clock, role: .command)
        // The lease expires, and its job is due after a delay.
        sqlite.clock.advance(16)
        #expect(try await command.driver.claim(0).isEmpty)
        sqlite.clock.advance(2)
        var count = 0
        while case let claimed = try await command.driver.claim(50, hostLimit: 3), !claimed.isEmpty {
            for one in claimed { _ = try await command.store.finish(one.lease, .cancelled, notice: nil) }
            count += claimed.count
        }
        #expect(count == 200)
    }

    @Test func `A claim finds a job that can run behind thousands that cannot`() async throws {
        let sqlite = try await SQLiteUnderTest()
        _ = try await sqlite.store.enqueue((0..<5_000).map { _ in .sample(host: "slow.example") }, idempotency: nil)
        sqlite.clock.advance(1)
        let other = try await sqlite.driver.enqueue(.sample(host: "other.example"))
        #expect(try await sqlite.driver.claim(1, hostLimit: 1).count == 1)
        #expect(try await sqlite.driver.claim(1, hostLimit: 1).map(\.job.id) == other)
        #expect(try await sqlite.driver.claim(1, hostLimit: 1).isEmpty)
    }
}
