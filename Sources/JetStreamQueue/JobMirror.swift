import AttachPrep
import AttachPrepJobs
import FoundationEssentials
import GRDB
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

/// The local read model: a SQLite copy of the jobs on the servers, for lists, searches and counts.
///
/// A watch on the bucket of jobs fills it, including the changes of this machine. It is rebuilt at each start. Of two
/// versions of a key, the higher revision wins.
final class JobMirror: Sendable {
    private let path: String
    let pool: DatabasePool
    let progress = MirrorProgress()
    private let queued: QueuedCount
    let writeCache = LocalWriteCache()
    private let jumps: ClockJumps
    private let commits: GroupCommit

    /// Opens a new read model.
    ///
    /// - Parameter path: the path of the database; an existing file is removed.
    init(path: String, feed: JobFeed, at moment: StoreMoment) throws {
        self.path = path
        jumps = ClockJumps(moment)
        try Self.remove(path)
        var configuration = GRDB.Configuration()
        configuration.label = "attachprep.mirror"
        configuration.prepareDatabase { database in
            // Durability is not needed: the database is rebuilt at each start.
            try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY")
            // The database contains secrets of jobs; deleted ones must not remain in its pages.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            // Most changes are near the end of the database: 32 MiB are cached in memory, and the WAL is checkpointed
            // at the same size.
            try database.execute(sql: "PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 8192")
        }
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = OFF")
                for part in StoreSchema.jobTables + [MirrorSchema.tables] { try database.execute(sql: part) }
                // Stores the current time, against which later clock steps are measured.
                try ClockJumps.adjust(database, at: moment)
            }
        } catch {
            throw StorageErrors.error(error)
        }
        let queued = QueuedCount()
        commits = GroupCommit(pool: pool, feed: feed) { database in
            let number = try database.number("SELECT number FROM tally WHERE name = 'queued'")
            queued.latest.store(Int(clamping: number ?? 0), ordering: .relaxed)
        }
        self.queued = queued
    }

    var queuedCount: Int { queued.latest.load(ordering: .relaxed) }

    /// The number of queued jobs after the last commit. Cached, because each submission reads it.
    private final class QueuedCount: Sendable {
        let latest = Atomic(0)
    }

    func close() throws {
        try pool.close()
        try Self.remove(path)
    }

    private static func remove(_ path: String) throws {
        for file in [path, "\(path)-wal", "\(path)-shm"] where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
    }

    /// Adjusts the due times of webhooks when this machine's wall clock was stepped.
    func adjustDueTimes(at moment: StoreMoment) async throws {
        try await jumps.adjust(moment, in: commits)
    }

    /// Checkpoints the WAL, called once a minute: wiped secrets remain in the WAL until then.
    func emptyLog() async throws {
        try await BlockingThread().run { [pool] in try pool.emptyLog() }
    }

    /// Applies entries received from the bucket.
    ///
    /// - Parameter notifiesListeners: whether to publish the changes in the feed; false for the initial entries.
    func apply(_ entries: [KeyValueEntry], at moment: StoreMoment, notifiesListeners: Bool) async throws {
        guard !entries.isEmpty else { return }
        try await commits.write { database, changes in
            for entry in entries {
                let published = try self.apply(entry, at: moment, notifiesListeners: notifiesListeners, database)
                if notifiesListeners { changes += published }
            }
        }
    }

    /// Waits until lists show the changes of this machine, which come back from the servers in the order of all
    /// changes. After 1 s, they are applied directly.
    ///
    /// - Parameter revision: the revision of the last change; nil for the highest of the jobs.
    func apply(
        _ jobs: [VersionedJob], batch: String? = nil, until revision: UInt64? = nil, at moment: StoreMoment
    ) async throws {
        guard let last = revision ?? jobs.map(\.revision).max() else { return }
        if await progress.wait(for: last, atMost: Self.applyTimeout) { return }
        try await commits.write { database, changes in
            if let batch { changes += try self.complete(batch, at: moment, database) }
            for job in jobs {
                let hold = WebhookLeaseTimes.own(at: moment)
                if let change = try MirrorTables.apply(job, hold, database) { changes.append(change) }
            }
        }
    }

    /// Replaces the received version of a job, which differs from the leader's, by the leader's version.
    ///
    /// - Parameter job: nil when the leader does not have the job.
    func replace(_ id: String, _ job: VersionedJob?, at moment: StoreMoment) async throws {
        try await commits.write { database, changes in
            try MirrorTables.delete(id, database)
            guard let job else { return }
            if let change = try MirrorTables.apply(job, .others(at: moment), database) { changes.append(change) }
        }
    }

    /// Changes normally come back within milliseconds.
    private static let applyTimeout = Duration.seconds(1)

    private func apply(
        _ entry: KeyValueEntry, at moment: StoreMoment, notifiesListeners: Bool, _ database: Database
    ) throws -> [JobFeed.Change] {
        switch QueueKeys.subject(of: entry.key) {
        case .job(let id):
            return try apply(entry, of: id, at: moment, notifiesListeners: notifiesListeners, database).map { [$0] }
                ?? []
        case .batch(let id):
            if entry.value != nil { return try complete(id, at: moment, database) }
            try MirrorTables.delete(batch: id, database)
        case .idempotencyRecord:
            let idempotencyRecord = entry.value.flatMap {
                try? JSONDecoder().decode(StoredIdempotencyKey.self, from: Data($0))
            }
            try MirrorTables.apply(idempotencyRecord, key: entry.key, revision: entry.revision, database)
        case .other: break
        }
        return []
    }

    private func apply(
        _ entry: KeyValueEntry, of id: String, at moment: StoreMoment, notifiesListeners: Bool, _ database: Database
    ) throws -> JobFeed.Change? {
        if let bytes = entry.value, let job = writeCache.job(id, bytes) {
            let known = VersionedJob(value: job, revision: entry.revision, receivedAt: moment.steady)
            return try MirrorTables.apply(known, .own(at: moment), database)
        }
        guard try MirrorTables.isNew(id, entry.revision, database) else { return nil }
        guard let bytes = entry.value else {
            try MirrorTables.remove(id, entry.revision, moment.steady, database)
            return nil
        }
        guard let job = try? StoredJob(bytes) else {
            // Possibly written by a newer version of attachprep.
            try MirrorTables.delete(id, database)
            return nil
        }
        // An initial entry may be old: its age is estimated from the start time by its worker's clock.
        let age = notifiesListeners ? 0 : max(0, moment.wall.subtracting(clamping: job.startedAt ?? moment.wall))
        let known = VersionedJob(
            value: job, revision: entry.revision, receivedAt: moment.steady.subtracting(clamping: age))
        return try MirrorTables.apply(known, .others(at: moment), database)
    }

    private func complete(_ batch: String, at moment: StoreMoment, _ database: Database) throws -> [JobFeed.Change] {
        try MirrorTables.complete(batch, at: moment, database) { try self.writeCache.job($0, $1) ?? StoredJob($1) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout [JobFeed.Change]) throws -> Value
    ) async throws -> Value {
        try await commits.write(body)
    }

    /// Removes all records, before a watch from the beginning.
    func clear() async throws {
        try await commits.write { database, _ in
            for table in MirrorSchema.names { try database.run("DELETE FROM \(table)") }
        }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await pool.read(body)
        } catch {
            throw StorageErrors.error(error)
        }
    }
}

extension JobMirror {
    /// The received versions of some jobs, and those of their work keys with a running job.
    struct Lookup: Sendable {
        var jobs: [String: VersionedJob] = [:]
        var busyKeys: Set<String> = []
    }

    func lookup(_ ids: [String]) async throws -> Lookup {
        try await read { database in
            var lookup = Lookup()
            for id in ids {
                guard let job = try VersionedJob.all("FROM job WHERE uuid = ?", [id], database).first else { continue }
                lookup.jobs[id] = job
                if try Self.isBusy(job.value.key, database) { lookup.busyKeys.insert(job.value.key) }
            }
            return lookup
        }
    }

    private static func isBusy(_ key: String, _ database: Database) throws -> Bool {
        try database.number(
            """
            SELECT 1 FROM job INDEXED BY job_running_key WHERE key = ? AND state = 'running' LIMIT 1
            """, [key]) != nil
    }

    /// The jobs whose work key another running job began with earlier.
    ///
    /// - Parameter begun: jobs with the revisions with which they began to run.
    func superseded(_ begun: [(job: StoredJob, revision: UInt64)]) async throws -> Set<String> {
        try await read { database in
            var superseded: Set<String> = []
            for (job, revision) in begun {
                let earlier = try database.number(
                    """
                    SELECT 1 FROM job INDEXED BY job_running_key
                    WHERE key = ? AND state = 'running' AND uuid <> ? AND run_revision < ?
                    """, [job.key, job.id, Int64(clamping: revision)])
                if earlier != nil { superseded.insert(job.id) }
            }
            return superseded
        }
    }

    func isWhole(_ batch: String) async throws -> Bool {
        try await read { try $0.number("SELECT 1 FROM batch WHERE id = ?", [batch]) != nil }
    }

    func nextDue(after now: Int64) async throws -> Date? {
        try await read { try CatalogQuery.nextDue($0, after: now) }
    }

    /// Finished jobs that match a filter, at most `count`.
    func finished(_ filter: JobFilter, count: Int) async throws -> [VersionedJob] {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isFinished))
        let found = try await read { database in
            try (selection.states ?? []).flatMap { try Self.chosen(selection, $0, count: count, database) }
        }
        return Array(found.prefix(count))
    }

    /// One page of the jobs with a state that match a selection, oldest first.
    ///
    /// - Parameter cursor: the ID of the last job of the previous page.
    func page(_ selection: JobSelection, _ state: JobState, after cursor: String, count: Int) async throws
        -> [VersionedJob]
    {
        var selection = selection
        selection.add("uuid > ?", cursor)
        return try await read { [selection] in try Self.chosen(selection, state, count: count, $0) }
    }

    /// Jobs that match a selection, oldest first. The inner query scans an index, so that only matching rows are read.
    private static func chosen(
        _ selection: JobSelection, _ state: JobState, count: Int, _ database: Database
    ) throws -> [VersionedJob] {
        try VersionedJob.all(
            """
            FROM job WHERE uuid IN (
                SELECT uuid FROM job WHERE state = '\(state.rawValue)' AND \(selection.condition) ORDER BY uuid LIMIT ?)
            ORDER BY uuid
            """, StatementArguments(selection.arguments + [count]), database)
    }
}
