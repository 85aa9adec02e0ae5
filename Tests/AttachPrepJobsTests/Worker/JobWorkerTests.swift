import AttachPrep
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs

/// What a worker does with the jobs of a queue.
@Suite(.timeLimit(.minutes(2))) struct JobWorkerTests {
    @Test func `A job is prepared, stored and told`() async throws {
        let bench = try await WorkerBench({ $0.baseURL = "https://media.example/push" }) { order, _, output in
            order.prepared(in: output)
        }
        var submission = JobSubmission.sample(id: "cat")
        submission.request.jobOptions.callbackURL = "https://hooks.example/a?token=s3cr3t"
        let id = try await bench.enqueue(submission)[0]
        try await bench.working { _ in try await bench.ended(id) }
        let job = try await bench.job(id)
        #expect(job.state == .succeeded)
        #expect(job.attempts == 1)
        #expect(job.result?.id == "cat")
        #expect(job.result?.attachment?.url == nil)
        let media = try #require(job.media)
        let file = try #require(try await bench.store.file("attachment.jpg", of: media))
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "meow")
        let webhook = try #require(try await bench.webhooks().first)
        #expect(webhook.notice.event == .attachmentPrepared)
        #expect(webhook.notice.body.contains("https://media.example/push/media/\(media)/attachment.jpg"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.preparer.output).isEmpty)
        #expect(bench.metrics.value("jobs_ended_total{state=succeeded,code=}") == 1)
        #expect(bench.metrics.value("stage_seconds{stage=transfer}") == 1)
        #expect(bench.metrics.value("download_bytes_total") == 1_000)
    }

    @Test func `A permanent error is told at once`() async throws {
        let bench = try await WorkerBench { order, _, _ in order.rejected(.mediaCorrupt) }
        var submission = JobSubmission.sample()
        submission.request.jobOptions.callbackURL = "https://hooks.example/"
        let id = try await bench.enqueue(submission)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .failed)
        #expect(job.error?.code == .mediaCorrupt)
        #expect(bench.orders.count == 1)
        #expect(try await bench.webhooks().map(\.notice.event) == [.attachmentRejected])
    }

    @Test func `What may pass is tried again until it does`() async throws {
        let bench = try await WorkerBench { order, number, output in
            number < 3 ? order.rejected(.downloadTimeout) : order.prepared(in: output)
        }
        let id = try await bench.enqueue(.sample())[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .succeeded)
        #expect(job.attempts == 3)
        #expect(bench.metrics.value("job_retries_total{code=download.timeout}") == 2)
    }

    @Test func `A job whose attempts are used up is dead`() async throws {
        let bench = try await WorkerBench { order, _, _ in order.rejected(.downloadTimeout) }
        var submission = JobSubmission.sample()
        submission.request.jobOptions.callbackURL = "https://hooks.example/"
        let id = try await bench.enqueue(submission)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .dead)
        #expect(job.attempts == Limits.jobAttemptsMax)
        #expect(job.error?.code == .downloadTimeout)
        #expect(try await bench.webhooks().map(\.notice.event) == [.jobDead])
    }

    @Test func `A full disk costs no attempt, and jobs wait until there is space`() async throws {
        let bench = try await WorkerBench({ $0.retries.attemptsMax = 1 }) { order, number, output in
            number <= 6 ? order.rejected(.outputNoSpace) : order.prepared(in: output)
        }
        let ids = try await bench.store.enqueue(
            (0..<5).map { .sample("https://cdn.example/\($0)", key: "\($0)") }, idempotency: nil
        ).jobs.map(\.id)
        try await bench.working { worker in
            try await askUntil("a worker that says why it takes no jobs") {
                worker.health == .unavailable("It did not work.")
            }
            for id in ids { try await bench.ended(id) }
            #expect(worker.health == .ok)
        }
        let jobs = try await bench.store.list(JobFilter(), after: nil, limit: 9).jobs
        #expect(jobs.map(\.state) == Array(repeating: .succeeded, count: 5))
        #expect(jobs.map(\.attempts) == Array(repeating: 1, count: 5))
        // Five at first, one for a trial that fails, and then each once.
        #expect(bench.orders.count == 11)
    }

    // MARK: One for many

    @Test func `Many jobs of the same work are one download`() async throws {
        let bench = try await WorkerBench { order, _, output in order.prepared(in: output) }
        let ids = try await bench.store.enqueue(
            (0..<30).map { .sample("https://cdn.example/cat", key: "cat", id: "cat-\($0)") }, idempotency: nil
        ).jobs.map(\.id)
        try await bench.working { _ in for id in ids { try await bench.ended(id) } }
        let jobs = try await bench.store.list(JobFilter(), after: nil, limit: 100).jobs
        #expect(jobs.allSatisfy { $0.state == .succeeded })
        #expect(Set(jobs.compactMap(\.media)).count == 1)
        #expect(Set(jobs.compactMap(\.result?.id)).count == 30)
        #expect(bench.orders.count == 1)
        #expect(bench.metrics.value("results_reused_total{kind=shared}") == 29)
        let first = try #require(bench.orders.first?.request.id)
        let reused = try #require(jobs.first { $0.result?.id != first }?.result)
        #expect(reused.timings.transfer == 0 && reused.timings.total < 60_000)
    }

    @Test func `A failure is that of all who wait for the same`() async throws {
        let bench = try await WorkerBench { order, _, _ in order.rejected(.sourceNotFound) }
        let ids = try await bench.enqueue(.sample(key: "cat"), .sample(key: "cat"), .sample(key: "cat"))
        try await bench.working { _ in
            for id in ids {
                let job = try await bench.ended(id)
                #expect(job.error?.code == .sourceNotFound)
            }
        }
        #expect(bench.orders.count == 1)
    }

    @Test func `A fresh result is used by later jobs, a stale one is asked about`() async throws {
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        let bench = try await WorkerBench { order, number, output in
            switch number {
            case 1: order.prepared(in: output, "meow", .passed, SourceFreshness(validators: known))
            case 2: .unchanged(SourceFreshness(validators: known, freshUntil: .now + 3_600))
            default: order.rejected(.internal)
            }
        }
        try await bench.working { _ in
            for (kind, orders) in [("none", 1), ("unchanged", 2), ("fresh", 2)] {
                let id = try await bench.enqueue(.sample(key: "cat"))[0]
                #expect(try await bench.ended(id).state == .succeeded, "\(kind)")
                #expect(bench.orders.count == orders, "\(kind)")
                if kind != "none" { #expect(bench.metrics.value("results_reused_total{kind=\(kind)}") == 1) }
            }
        }
        #expect(bench.orders.map(\.validators) == [nil, known])
        #expect(try await bench.store.list(JobFilter(), after: nil, limit: 9).jobs.compactMap(\.media).count == 3)
    }

    // MARK: Order and time

    @Test func `No more jobs are in hand than there is room for, nor of one host`() async throws {
        let gate = LoopbackGate()
        let bench = try await WorkerBench({ ($0.concurrency, $0.hostLimit) = (3, 2) }) { order, _, output in
            await gate.untilOpen()
            return order.prepared(in: output)
        }
        let slow = try await bench.store.enqueue((0..<5).map { _ in .sample(host: "slow.example") }, idempotency: nil)
        let other = try await bench.enqueue(.sample(host: "other.example"))
        try await bench.working { worker in
            try await askUntil("three at work") { bench.orders.count == 3 }
            #expect(bench.orders.filter { $0.request.source.contains("slow.example") }.count == 2)
            #expect(worker.activeJobCount == 3)
            gate.open()
            for id in slow.jobs.map(\.id) + other { try await bench.ended(id) }
        }
    }

    @Test func `A job whose time is over has failed before it began`() async throws {
        let bench = try await WorkerBench { order, _, output in order.prepared(in: output) }
        var submission = JobSubmission.sample()
        submission.request.jobOptions.notAfter = .now - 1
        let id = try await bench.enqueue(submission)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .failed)
        #expect(job.error?.code == .deadlineNotAfter && job.error?.retryable == false)
        #expect(bench.orders.isEmpty)
    }

    @Test func `A job's own deadline cuts its budget, and is nobody else's failure`() async throws {
        let bench = try await WorkerBench { order, _, output in
            order.request.budgetSeconds < Limits.budgetSeconds
                ? order.rejected(.deadlineExceeded) : order.prepared(in: output)
        }
        var hurried = JobSubmission.sample(key: "cat")
        hurried.request.jobOptions.notAfter = .now + 20
        let ids = try await bench.enqueue(hurried, .sample(key: "cat"))
        try await bench.working { _ in for id in ids { try await bench.ended(id) } }
        #expect(bench.orders.count >= 2)
        #expect(bench.orders[0].request.budgetSeconds <= 20)
        #expect(bench.orders.contains { $0.request.budgetSeconds == Limits.budgetSeconds })
        #expect(try await bench.job(ids[1]).state == .succeeded)
    }

    // Issue 19, item 10.
    @Test func `notAfter that passes during the work is named as the cause, with its remedy`() async throws {
        let bench = try await WorkerBench { order, _, _ in order.rejected(.deadlineExceeded) }
        var hurried = JobSubmission.sample()
        hurried.request.jobOptions.notAfter = .now + 20
        let id = try await bench.enqueue(hurried)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .failed)
        #expect(job.error?.code == .deadlineNotAfter && job.error?.retryable == false)
        #expect(job.error?.message.contains("notAfter") == true)
        #expect(job.error?.message.contains("--") == false)
    }

    @Test func `A job that too many workers ended with is dead, and is not begun again`() async throws {
        let bench = try await WorkerBench { order, _, output in order.prepared(in: output) }
        let forgetful = ForgetfulStore(bench.store)
        forgetful.lose(Limits.jobLossesMax + 1)
        let id = try await bench.enqueue(.sample())[0]
        let job = try await bench.working(on: forgetful) { _ in try await bench.ended(id) }
        #expect(job.state == .dead)
        #expect(job.error?.code == .internal)
        #expect(bench.orders.isEmpty)
    }

    @Test func `High comes before bulk`() async throws {
        let bench = try await WorkerBench({ $0.concurrency = 1 }) { order, _, output in order.prepared(in: output) }
        let bulk = try await bench.store.enqueue((0..<10).map { _ in .sample(priority: .bulk) }, idempotency: nil)
        let high = try await bench.enqueue(.sample(priority: .high), .sample(priority: .high))
        try await bench.working { _ in for id in bulk.jobs.map(\.id) + high { try await bench.ended(id) } }
        #expect(bench.orders.prefix(4).count { $0.request.jobOptions.priority == .high } == 2)
    }

    // MARK: Called off and lost

    @Test func `A running job that is called off ends as that, and its work too`() async throws {
        let bench = try await WorkerBench { order, _, _ in
            await untilCancelled()
            return order.rejected(.cancelled)
        }
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working { _ in
            try await askUntil("the work") { bench.orders.count == 1 }
            _ = try await bench.store.cancel(id)
            #expect(try await bench.ended(id).state == .cancelled)
        }
        #expect(bench.metrics.value("jobs_ended_total{state=cancelled,code=cancelled}") == 1)
    }

    @Test func `Who has lost the lease stops, and stores nothing`() async throws {
        let bench = try await WorkerBench({ $0.heartbeat = .milliseconds(50) }) { order, _, output in
            await untilCancelled()
            return order.prepared(in: output)
        }
        let forgetful = ForgetfulStore(bench.store)
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working(on: forgetful) { worker in
            try await askUntil("the work") { bench.orders.count == 1 }
            forgetful.forget()
            try await askUntil("empty hands") { worker.activeJobCount == 0 }
        }
        #expect(try await bench.job(id).state == .running)
        #expect(try await bench.store.result(for: WorkKey(bench.orders[0].folder ?? "")) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.preparer.output).isEmpty)
    }

    @Test func `A worker that was held up renews its leases before it claims, and loses nothing to itself`()
        async throws
    {
        let gate = LoopbackGate()
        let bench = try await WorkerBench({
            ($0.lease, $0.heartbeat) = (.milliseconds(300), .seconds(3_600))
        }) { order, number, output in
            if number == 1 { await gate.untilOpen() }
            return order.prepared(in: output)
        }
        let slow = try await bench.enqueue(.sample())[0]
        try await bench.working { _ in
            try await askUntil("the work") { bench.orders.count == 1 }
            let over = Date.now + 0.4
            try await waitUntil("the lease's end") { Date.now > over }
            try await bench.ended(try await bench.enqueue(.sample())[0])
            gate.open()
            #expect(try await bench.ended(slow).attempts == 1)
        }
        #expect(bench.orders.count == 2)
    }

    @Test func `A store that does not answer is waited for, and the job ends all the same`() async throws {
        let bench = try await WorkerBench { order, _, output in order.prepared(in: output) }
        let forgetful = ForgetfulStore(bench.store)
        forgetful.fail(true)
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working(on: forgetful) { worker in
            try await askUntil("the failure") { worker.health.reason?.contains("disk") == true }
            forgetful.fail(false)
            #expect(try await bench.ended(id).state == .succeeded)
            try await askUntil("health") { worker.health.isOK }
        }
    }

    // MARK: Leaving

    @Test func `Leaving waits for those in hand and takes no others`() async throws {
        let gate = LoopbackGate()
        let bench = try await WorkerBench({ $0.concurrency = 1 }) { order, _, output in
            await gate.untilOpen()
            return order.prepared(in: output)
        }
        let ids = try await bench.enqueue(.sample(), .sample())
        let worker = bench.makeWorker()
        let run = Task { await worker.run() }
        try await askUntil("the work") { bench.orders.count == 1 }
        async let leaving: Void = worker.drain(within: .seconds(60))
        try await askUntil("leaving") { worker.health == .draining }
        gate.open()
        await leaving
        await run.value
        #expect(try await bench.job(ids[0]).state == .succeeded)
        #expect(try await bench.job(ids[1]).state == .queued)
        await worker.drain(within: .seconds(60))
    }

    @Test func `What does not end in time goes back into the queue as if it had not been claimed`() async throws {
        let bench = try await WorkerBench { order, _, _ in
            await untilCancelled()
            return order.rejected(.cancelled)
        }
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working(drain: .zero) { _ in
            try await askUntil("the work") { bench.orders.count == 1 }
        }
        let job = try await bench.job(id)
        #expect(job.state == .queued)
        #expect(job.attempts == 0)
    }

    @Test func `A worker whose task is cancelled leaves at once, and loses nothing`() async throws {
        let bench = try await WorkerBench { order, _, _ in
            await untilCancelled()
            return order.rejected(.cancelled)
        }
        let id = try await bench.enqueue(.sample())[0]
        let worker = bench.makeWorker()
        #expect(worker.health == .starting)
        let run = Task { await worker.run() }
        try await askUntil("the work") { bench.orders.count == 1 }
        run.cancel()
        await run.value
        #expect(worker.health == .draining)
        #expect(try await bench.job(id).state == .queued)
    }

    // MARK: Logs and gauges

    @Test func `A job's lines are kept with it`() async throws {
        let bench = try await WorkerBench { order, number, output in
            order.logger?.info("looked at", metadata: ["n": "\(number)"])
            order.logger?.debug("what a library says")
            return number == 1 ? order.rejected(.downloadTimeout) : order.prepared(in: output)
        }
        let ids = try await bench.enqueue(.sample(), .sample())
        try await bench.working { _ in for id in ids { try await bench.ended(id) } }
        let lines = try await bench.store.log(of: ids[0])
        #expect(lines.allSatisfy { $0.job == ids[0] && $0.level == "info" })
        let texts = lines.map(\.text)
        #expect(texts.first?.hasPrefix("claimed attempt=1") == true)
        #expect(texts.contains { $0.hasPrefix("looked at n=") })
        #expect(texts.last?.hasPrefix("ended ms=") == true)
        #expect(texts.last?.hasSuffix("state=succeeded") == true)
        #expect(try await bench.store.log(of: ids[1]).isEmpty == false)
    }

    @Test func `Gauges show the queue as it is`() async throws {
        let bench = try await WorkerBench { order, _, output in order.prepared(in: output) }
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working { _ in try await bench.ended(id) }
        _ = try await bench.enqueue(.sample(), .sample())
        try await JobMetrics(factory: bench.metrics).refresh(bench.store)
        #expect(bench.metrics.value("jobs{state=queued}") == 2)
        #expect(bench.metrics.value("jobs{state=succeeded}") == 1)
        #expect(bench.metrics.value("jobs_due") == 2)
        #expect(bench.metrics.value("media_bytes") == 4)
        #expect(bench.metrics.value("outbox_webhooks{state=pending}") == 0)
        #expect(bench.metrics.value("jobs_oldest_due_seconds").map { $0 >= 0 } == true)
    }

    @Test func `Refused claims are counted once, however often somebody looks`() {
        let metrics = CountedMetrics()
        let counted = JobMetrics(factory: metrics)
        #expect(metrics.value("claims_refused_total") == 0)
        for total in [3, 3, 2, 5] { counted.note(refusedClaims: total) }
        #expect(metrics.value("claims_refused_total") == 5)
    }
}
