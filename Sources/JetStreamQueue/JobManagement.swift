import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
public import FoundationEssentials
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic

extension NATSJobQueue: JobQueue {
    /// Read from the stream's leader, so never older than a version that was returned before.
    public func job(_ id: JobID) async throws -> Job? {
        try await mapError { try await fetch(id.text)?.value.job() }
    }

    public func cancel(_ id: JobID) async throws -> Job {
        let now = clock.now().wall
        return try await mapError {
            guard let job = try await change(id.text, from: nil, { $0.cancelled(at: now) }) else {
                throw try await stateConflict(id, "cannot be cancelled")
            }
            return try job.value.job()
        }
    }

    public func retry(_ id: JobID) async throws -> Job {
        let now = clock.now().wall
        return try await mapError {
            try checkCapacity(for: 1)
            let job = try await change(id.text, from: nil) { job in
                if job.state == .cancelled, job.secret == JobSecrets.wiped { throw JobSecrets.wipedError(id) }
                return job.retried(at: now)
            }
            guard let job else { throw try await stateConflict(id, "cannot be retried") }
            try await publish([job.value])
            return try job.value.job()
        }
    }

    public func nextDue() async throws -> Date? {
        try await mirror.nextDue(after: clock.now().wall)
    }

    private func stateConflict(_ id: JobID, _ what: String) async throws -> AttachPrepError {
        .stateConflict(id, try await fetch(id.text)?.value.state.rawValue, what)
    }
}

extension NATSJobQueue: JobCatalog {
    public func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        let query = try CatalogQuery(filter, after: cursor, limit: limit)
        return try query.page(await mirror.read(query.records))
    }

    public func count(_ filter: JobFilter) async throws -> Int {
        let selection = try JobSelection(filter)
        return try await mirror.read { try CatalogQuery.count(selection, $0) }
    }

    public func counts() async throws -> JobCounts {
        let now = clock.wall().milliseconds
        return try await mirror.read { try CatalogQuery.counts($0, at: now) }
    }

    public func pace(until end: Date) async throws -> JobPace {
        try await mirror.read { try PaceQuery.pace($0, until: end) }
    }

    public func purge(_ filter: JobFilter) async throws -> Int {
        try await mapError {
            var count = 0
            while true {
                let found = try await mirror.finished(filter, count: Self.jobsPerPurgeStepMax)
                let purged = try await purge(found)
                count += purged
                // Jobs that were not removed have changed meanwhile; the read model receives the change.
                if purged == 0 { return count }
            }
        }
    }

    /// The maximum number of jobs per step.
    private static let jobsPerPurgeStepMax = 500

    /// Removes jobs that have not changed.
    ///
    /// - Returns: The number of removed jobs.
    func purge(_ found: [VersionedJob]) async throws -> Int {
        let answers = await jobs.makeAll(
            found.map { KeyValueBucket.Change(QueueKeys.job($0.value.id), nil, after: $0.revision) })
        var purged: [KeyValueEntry] = []
        for (job, answer) in zip(found, answers) {
            guard let revision = try answer.get() else { continue }
            purged.append(KeyValueEntry(key: QueueKeys.job(job.value.id), value: nil, revision: revision))
        }
        try await mirror.apply(purged, at: clock.now(), notifiesListeners: true)
        _ = await logs.makeAll(purged.map { KeyValueBucket.Change($0.key, nil) })
        return purged.count
    }
}

extension NATSJobQueue {
    /// The maximum number of jobs per step.
    private static let retriedCount = 200

    public func retry(_ filter: JobFilter) async throws -> Int {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isRetryable))
        return try await mapError {
            var count = 0
            for state in selection.states ?? [] {
                var cursor = ""
                // Pages move forward only, so that a job that fails again meanwhile is not retried twice.
                while let last = try await retry(selection, state, after: cursor, &count) { cursor = last }
            }
            return count
        }
    }

    /// Retries one page of jobs.
    ///
    /// - Returns: The ID of the page's last job; nil when there are no more jobs or the queue is full.
    private func retry(
        _ selection: JobSelection, _ state: JobState, after cursor: String, _ count: inout Int
    ) async throws -> String? {
        let capacity = min(Self.retriedCount, limits.queuedJobsMax.subtracting(clamping: mirror.queuedCount))
        guard capacity > 0 else { return nil }
        let found = try await mirror.page(selection, state, after: cursor, count: capacity)
        count += try await retry(found)
        return found.last?.value.id
    }

    /// Retries jobs that have not changed.
    ///
    /// - Returns: The number of retried jobs.
    private func retry(_ found: [VersionedJob]) async throws -> Int {
        let now = clock.now()
        let next = found.compactMap { known -> (job: StoredJob, after: UInt64)? in
            if known.value.state == .cancelled, known.value.secret == JobSecrets.wiped { return nil }
            return known.value.retried(at: now.wall).map { ($0, known.revision) }
        }
        let kept = try await make(next).compactMap { try $0.get() }
        try await mirror.apply(kept, at: now)
        try await publish(kept.map(\.value))
        return kept.count
    }
}

/// Job logs: one value per job in the bucket of logs, to which the job's worker appends.
extension NATSJobQueue {
    private struct StoredLogLine: Codable {
        var date: Int64
        var level: String
        var text: String
    }

    public func log(of id: JobID) async throws -> [JobLogLine] {
        try await mapError {
            let lines = try await lines(of: id)?.lines ?? []
            return lines.map {
                JobLogLine(job: id, date: Date(milliseconds: $0.date), level: $0.level, text: $0.text)
            }
        }
    }

    private func lines(of id: JobID) async throws -> (lines: [StoredLogLine], revision: UInt64)? {
        guard let entry = try await logs.entry(QueueKeys.job(id.text)) else { return nil }
        let lines = try entry.value.map { try JSONDecoder().decode([StoredLogLine].self, from: Data($0)) }
        return (lines ?? [], entry.revision)
    }

    public func append(_ lines: [JobLogLine]) async throws {
        try await mapError {
            let byJob = Dictionary(grouping: lines, by: \.job)
            let lookup = try await mirror.lookup(byJob.keys.map(\.text))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (id, lines) in byJob where lookup.jobs[id.text] != nil {
                    group.addTask { try await self.append(lines, to: id) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func append(_ lines: [JobLogLine], to id: JobID) async throws {
        let new = lines.map { line in
            StoredLogLine(date: line.date.milliseconds, level: line.level, text: line.text)
        }
        while true {
            let earlier = try await self.lines(of: id)
            let kept = Array(((earlier?.lines ?? []) + new).suffix(Limits.jobLogLinesMax))
            let change = KeyValueBucket.Change(
                QueueKeys.job(id.text), try StoredJSON.bytes(kept), after: earlier?.revision ?? 0)
            if try await logs.make(change) != nil { return }
        }
    }
}
