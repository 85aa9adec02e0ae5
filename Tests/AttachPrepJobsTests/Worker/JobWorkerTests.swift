import AttachPrep
import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepJobs

/// What a worker does with the jobs of a queue.
@Suite(.timeLimit(.minutes(2))) struct JobWorkerTests {
    @Test func `A job is prepared and stored, and its webhook is added`() async throws {
        let bench = try await WorkerBench({ $0.baseURL = "https://media.example/push" }) { task, _, output in
            task.prepared(in: output)
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
        #expect(
            webhook.notice.body.contains(
                "https://media.example/push/media/\(media)/attachment-\(file.sha256.prefix(8)).jpg"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.preparer.output).isEmpty)
        #expect(bench.metrics.value("jobs_ended_total{state=succeeded,code=}") == 1)
        #expect(bench.metrics.value("stage_seconds{stage=transfer}") == 1)
        #expect(bench.metrics.value("download_bytes_total") == 1_000)
    }

    @Test func `A permanent error fails the job after one attempt, with a webhook`() async throws {
        let bench = try await WorkerBench { task, _, _ in task.rejected(.mediaCorrupt) }
        var submission = JobSubmission.sample()
        submission.request.jobOptions.callbackURL = "https://hooks.example/"
        let id = try await bench.enqueue(submission)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .failed)
        #expect(job.error?.code == .mediaCorrupt)
        #expect(bench.tasks.count == 1)
        #expect(try await bench.webhooks().map(\.notice.event) == [.attachmentRejected])
    }

    @Test func `A temporary error is retried until the job succeeds`() async throws {
        let bench = try await WorkerBench { task, number, output in
            number < 3 ? task.rejected(.downloadTimeout) : task.prepared(in: output)
        }
        let id = try await bench.enqueue(.sample())[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .succeeded)
        #expect(job.attempts == 3)
        #expect(bench.metrics.value("job_retries_total{code=download.timeout}") == 2)
    }

    @Test func `A job whose attempts are used up is dead`() async throws {
        let bench = try await WorkerBench { task, _, _ in task.rejected(.downloadTimeout) }
        var submission = JobSubmission.sample()
        submission.request.jobOptions.callbackURL = "https://hooks.example/"
        let id = try await bench.enqueue(submission)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .dead)
        #expect(job.attempts == Limits.jobAttemptsMax)
        #expect(job.error?.code == .downloadTimeout)
        #expect(try await bench.webhooks().map(\.notice.event) == [.jobDead])
    }

    @Test func `A full disk counts as no attempt, and jobs wait until there is space`() async throws {
        let bench = try await WorkerBench({ $0.retries.attemptsMax = 1 }) { task, number, output in
            number <= 6 ? task.rejected(.outputNoSpace) : task.prepared(in: output)
        }
        let ids = try await bench.store.enqueue(
            (0..<5).map { .sample("https://cdn.example/\($0)", key: "\($0)") }, idempotency: nil
        ).jobs.map(\.id)
        try await bench.working { worker in
            try await pollUntil("the worker reports why it claims no jobs") {
                worker.health == .unavailable("Jobs wait for the disk: It did not work.")
            }
            for id in ids { try await bench.ended(id) }
            #expect(worker.health == .ok)
        }
        let jobs = try await bench.store.list(JobFilter(), after: nil, limit: 9).jobs
        #expect(jobs.map(\.state) == Array(repeating: .succeeded, count: 5))
        #expect(jobs.map(\.attempts) == Array(repeating: 1, count: 5))
        // Five at first, one for a trial that fails, then one for each job.
        #expect(bench.tasks.count == 11)
    }

    // MARK: Limits and priority

    @Test func `The number of running jobs is limited, in total and for each host`() async throws {
        let gate = LoopbackGate()
        let bench = try await WorkerBench({ ($0.concurrency, $0.hostLimit) = (3, 2) }) { task, _, output in
            await gate.waitUntilOpen()
            return task.prepared(in: output)
        }
        let slow = try await bench.store.enqueue((0..<5).map { _ in .sample(host: "slow.example") }, idempotency: nil)
        let other = try await bench.enqueue(.sample(host: "other.example"))
        try await bench.working { worker in
            try await pollUntil("three jobs are running") { bench.tasks.count == 3 }
            #expect(bench.tasks.filter { $0.request.source.contains("slow.example") }.count == 2)
            #expect(worker.dependencies.activeLeases.count == 3)
            gate.open()
            for id in slow.jobs.map(\.id) + other { try await bench.ended(id) }
        }
    }

    @Test func `A job past its notAfter fails without an attempt`() async throws {
        let bench = try await WorkerBench { task, _, output in task.prepared(in: output) }
        var submission = JobSubmission.sample()
        submission.request.jobOptions.notAfter = .now - 1
        let id = try await bench.enqueue(submission)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .failed)
        #expect(job.error?.code == .deadlineNotAfter && job.error?.retryable == false)
        #expect(bench.tasks.isEmpty)
    }

    @Test func `A job's notAfter cuts its budget without failing other jobs with the same work key`() async throws {
        let bench = try await WorkerBench { task, _, output in
            task.request.budgetSeconds < Limits.budgetSeconds
                ? task.rejected(.deadlineExceeded) : task.prepared(in: output)
        }
        var urgent = JobSubmission.sample(key: "cat")
        urgent.request.jobOptions.notAfter = .now + 20
        let ids = try await bench.enqueue(urgent, .sample(key: "cat"))
        try await bench.working { _ in for id in ids { try await bench.ended(id) } }
        #expect(bench.tasks.count >= 2)
        #expect(bench.tasks[0].request.budgetSeconds <= 20)
        #expect(bench.tasks.contains { $0.request.budgetSeconds == Limits.budgetSeconds })
        #expect(try await bench.job(ids[1]).state == .succeeded)
    }

    // Issue 19, item 10.
    @Test func `A notAfter that passes during the work is reported as the cause, with what to do`() async throws {
        let bench = try await WorkerBench { task, _, _ in task.rejected(.deadlineExceeded) }
        var urgent = JobSubmission.sample()
        urgent.request.jobOptions.notAfter = .now + 20
        let id = try await bench.enqueue(urgent)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .failed)
        #expect(job.error?.code == .deadlineNotAfter && job.error?.retryable == false)
        #expect(job.error?.message.contains("notAfter") == true)
        #expect(job.error?.message.contains("--") == false)
    }

    @Test func `A job that lost too many workers is dead without another attempt`() async throws {
        let bench = try await WorkerBench { task, _, output in task.prepared(in: output) }
        let unreliable = UnreliableStore(bench.store)
        unreliable.report(losses: Limits.jobLossesMax)
        let id = try await bench.enqueue(.sample())[0]
        let job = try await bench.working(on: unreliable) { _ in try await bench.ended(id) }
        #expect(job.state == .dead)
        #expect(job.error?.code == .jobWorkerLost)
        #expect(bench.tasks.isEmpty)
    }

    @Test func `High-priority jobs run before bulk jobs`() async throws {
        let bench = try await WorkerBench({ $0.concurrency = 1 }) { task, _, output in task.prepared(in: output) }
        let bulk = try await bench.store.enqueue((0..<10).map { _ in .sample(priority: .bulk) }, idempotency: nil)
        let high = try await bench.enqueue(.sample(priority: .high), .sample(priority: .high))
        try await bench.working { _ in for id in bulk.jobs.map(\.id) + high { try await bench.ended(id) } }
        #expect(bench.tasks.prefix(4).count { $0.request.jobOptions.priority == .high } == 2)
    }

    // MARK: Cancellation and loss

    @Test func `A running job that is cancelled ends as cancelled, and its work stops`() async throws {
        let bench = try await WorkerBench { task, _, _ in
            await untilCancelled()
            return task.rejected(.cancelled)
        }
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working { _ in
            try await pollUntil("the work starts") { bench.tasks.count == 1 }
            _ = try await bench.store.cancel(id)
            #expect(try await bench.ended(id).state == .cancelled)
        }
        #expect(bench.metrics.value("jobs_ended_total{state=cancelled,code=cancelled}") == 1)
    }

    @Test func `A worker that has lost its lease stops and stores nothing`() async throws {
        let bench = try await WorkerBench({ $0.heartbeat = .milliseconds(50) }) { task, _, output in
            await untilCancelled()
            return task.prepared(in: output)
        }
        let unreliable = UnreliableStore(bench.store)
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working(on: unreliable) { worker in
            try await pollUntil("the work starts") { bench.tasks.count == 1 }
            unreliable.loseLeases()
            try await pollUntil("there are no active jobs") { worker.dependencies.activeLeases.count == 0 }
        }
        #expect(try await bench.job(id).state == .running)
        #expect(try await bench.store.result(for: WorkKey(bench.tasks[0].folder ?? "")) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.preparer.output).isEmpty)
    }

    @Test func `A worker that was delayed renews its leases before it claims`() async throws {
        let gate = LoopbackGate()
        let bench = try await WorkerBench({
            ($0.lease, $0.heartbeat) = (.milliseconds(300), .seconds(3_600))
        }) { task, number, output in
            if number == 1 { await gate.waitUntilOpen() }
            return task.prepared(in: output)
        }
        let slow = try await bench.enqueue(.sample())[0]
        try await bench.working { _ in
            try await pollUntil("the work starts") { bench.tasks.count == 1 }
            let over = Date.now + 0.4
            try await waitUntil("the lease has expired") { Date.now > over }
            try await bench.ended(try await bench.enqueue(.sample())[0])
            gate.open()
            #expect(try await bench.ended(slow).attempts == 1)
        }
        #expect(bench.tasks.count == 2)
    }

    @Test func `A job ends after its store was unavailable for a while`() async throws {
        let bench = try await WorkerBench { task, _, output in task.prepared(in: output) }
        let unreliable = UnreliableStore(bench.store)
        unreliable.fail(true)
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working(on: unreliable) { worker in
            try await pollUntil("the worker reports the failure") { worker.health.reason?.contains("disk") == true }
            unreliable.fail(false)
            #expect(try await bench.ended(id).state == .succeeded)
            try await pollUntil("the worker is healthy") { worker.health == .ok }
        }
    }

    // MARK: Draining

    @Test func `Draining waits for running jobs and claims no others`() async throws {
        let gate = LoopbackGate()
        let bench = try await WorkerBench({ $0.concurrency = 1 }) { task, _, output in
            await gate.waitUntilOpen()
            return task.prepared(in: output)
        }
        let ids = try await bench.enqueue(.sample(), .sample())
        let worker = bench.makeWorker()
        let run = Task { await worker.run() }
        try await pollUntil("the work starts") { bench.tasks.count == 1 }
        async let draining: Void = worker.drain(within: .seconds(60))
        try await pollUntil("the worker is draining") { worker.health == .draining }
        gate.open()
        await draining
        await run.value
        #expect(try await bench.job(ids[0]).state == .succeeded)
        #expect(try await bench.job(ids[1]).state == .queued)
        await worker.drain(within: .seconds(60))
    }

    @Test func `A job that does not end before the drain deadline is queued as if never claimed`() async throws {
        let bench = try await WorkerBench { task, _, _ in
            await untilCancelled()
            return task.rejected(.cancelled)
        }
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working(drain: .zero) { _ in
            try await pollUntil("the work starts") { bench.tasks.count == 1 }
        }
        let job = try await bench.job(id)
        #expect(job.state == .queued)
        #expect(job.attempts == 0)
    }

    @Test func `Jobs are returned to the queue although the store fails for a moment at shutdown`() async throws {
        let bench = try await WorkerBench { task, _, _ in
            await untilCancelled()
            return task.rejected(.cancelled)
        }
        let unreliable = UnreliableStore(bench.store)
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working(drain: .zero, on: unreliable) { _ in
            try await pollUntil("the work starts") { bench.tasks.count == 1 }
            unreliable.fail(times: 4)
        }
        let job = try await bench.job(id)
        #expect(job.state == .queued && job.attempts == 0)
    }

    @Test func `A cancelled worker stops immediately and releases its jobs`() async throws {
        let bench = try await WorkerBench { task, _, _ in
            await untilCancelled()
            return task.rejected(.cancelled)
        }
        let id = try await bench.enqueue(.sample())[0]
        let worker = bench.makeWorker()
        #expect(worker.health == .starting)
        let run = Task { await worker.run() }
        try await pollUntil("the work starts") { bench.tasks.count == 1 }
        run.cancel()
        await run.value
        #expect(worker.health == .draining)
        #expect(try await bench.job(id).state == .queued)
    }

    // MARK: Logs and gauges

    @Test func `A job's log lines are stored with it`() async throws {
        let bench = try await WorkerBench { task, number, output in
            task.logger?.info("inspected", metadata: ["n": "\(number)"])
            task.logger?.debug("a library's message")
            return number == 1 ? task.rejected(.downloadTimeout) : task.prepared(in: output)
        }
        let ids = try await bench.enqueue(.sample(), .sample())
        try await bench.working { _ in for id in ids { try await bench.ended(id) } }
        let lines = try await bench.store.log(of: ids[0])
        #expect(lines.allSatisfy { $0.job == ids[0] && $0.level == "info" })
        let texts = lines.map(\.text)
        #expect(texts.first?.hasPrefix("claimed attempt=1") == true)
        #expect(texts.contains { $0.hasPrefix("inspected n=") })
        #expect(texts.last?.hasPrefix("ended milliseconds=") == true)
        #expect(texts.last?.hasSuffix("state=succeeded") == true)
        #expect(try await bench.store.log(of: ids[1]).isEmpty == false)
    }

    @Test func `A job that ends takes its own log lines and leaves those of others`() async throws {
        let bench = try await WorkerBench { task, _, output in task.prepared(in: output) }
        let (buffer, ids) = (JobLogBuffer(bench.store), try await bench.enqueue(.sample(), .sample()))
        for id in ids { buffer.add(JobLogLine(job: id, date: .now, level: "info", text: "\(id)")) }
        #expect(buffer.take(of: ids[0]).map(\.job) == [ids[0]])
        await buffer.flush()
        #expect(try await bench.store.log(of: ids[0]).isEmpty)
        #expect(try await bench.store.log(of: ids[1]).map(\.text) == [ids[1].text])
    }

    @Test func `Gauges show the state of the queue`() async throws {
        let bench = try await WorkerBench { task, _, output in task.prepared(in: output) }
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

    @Test func `Failed media processes and the quarantine are counted from their totals`() {
        let metrics = CountedMetrics()
        let counted = JobMetrics(factory: metrics)
        #expect(metrics.value("media_process_failures_total{cause=sandbox}") == 0)
        var statistics = PreparerStatistics(replacements: MediaProcessReplacements(failed: 3, recycled: 1))
        statistics.failures = [.crash: 2, .sandbox: 1]
        (statistics.quarantine.strikes, statistics.quarantine.rejections) = (2, 5)
        for _ in 0..<2 { counted.record(statistics) }
        #expect(metrics.value("media_children_restarted_total{reason=failed}") == 3)
        #expect(metrics.value("media_process_failures_total{cause=crash}") == 2)
        #expect(metrics.value("media_process_failures_total{cause=sandbox}") == 1)
        #expect(metrics.value("quarantine_strikes_total") == 2)
        #expect(metrics.value("quarantine_rejections_total") == 5)
    }

    // `increase` of Prometheus does not see the first value of a series.
    @Test func `Jobs that ended are counted from 0 for every code that a dead job can have`() {
        let metrics = CountedMetrics()
        _ = JobMetrics(factory: metrics)
        #expect(metrics.value("jobs_ended_total{state=succeeded,code=}") == 0)
        for code in ErrorCode.allCases where code.isRetryable {
            #expect(metrics.value("jobs_ended_total{state=dead,code=\(code.rawValue)}") == 0, "\(code)")
        }
    }
}
