import GRDB
import NATS
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the servers have, in SQLite tables of this machine's: lists, searches and numbers come from here.
///
/// It is fed by a watch on the bucket of jobs and by our own changes as soon as they are kept, and made anew at each
/// start. Of two things that are heard of one key the one with the higher revision holds.
final class JobMirror: Sendable {
    let pool: DatabasePool
    let hearing = MirrorHearing()
    let cache = KeptJobCache()
    private let queued: QueuedCount
    private let own = OwnChanges()
    private let commits: GroupCommit

    /// - Parameter path: of a database, which is thrown away first.
    init(path: String, feed: JobFeed) throws {
        for file in [path, "\(path)-wal", "\(path)-shm"] where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
        var configuration = GRDB.Configuration()
        configuration.label = "attachprep.mirror"
        configuration.prepareDatabase { database in
            // What a power failure takes is made anew.
            try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY")
        }
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = OFF")
                for part in StoreSchema.jobTables + [MirrorSchema.tables] { try database.execute(sql: part) }
            }
        } catch {
            throw StoreFault.error(error)
        }
        let queued = QueuedCount()
        commits = GroupCommit(pool: pool, feed: feed) { database in
            let number = try database.number("SELECT number FROM tally WHERE name = 'queued'")
            queued.latest.store(Int(number ?? 0), ordering: .relaxed)
        }
        self.queued = queued
    }

    /// Jobs that wait.
    var queuedCount: Int { queued.latest.load(ordering: .relaxed) }

    /// As of the last commit: who takes a job in asks each time, and should not have to ask the database.
    private final class QueuedCount: Sendable {
        let latest = Atomic(0)
    }

    func close() throws { try pool.close() }

    /// Takes in what was heard of the bucket.
    ///
    /// - Parameter isNews: whether others are told of it; what was there at the start is none.
    func take(_ entries: [KeyValueEntry], at moment: StoreMoment, isNews: Bool) async throws {
        let entries = own.others(entries)
        guard !entries.isEmpty else { return }
        try await commits.write { database, changes in
            for entry in entries {
                let told = try self.take(entry, at: moment, isNews: isNews, database)
                if isNews { changes += told }
            }
        }
    }

    /// Takes in our own changes that were kept.
    func take(_ jobs: [KnownJob], batches: [String] = [], at moment: StoreMoment) async throws {
        guard !jobs.isEmpty || !batches.isEmpty else { return }
        own.add(jobs.map(\.revision), heardUntil: hearing.revision)
        do {
            try await keep(jobs, batches, at: moment)
        } catch {
            own.forgetAll()
            throw error
        }
    }

    private func keep(_ jobs: [KnownJob], _ batches: [String], at moment: StoreMoment) async throws {
        try await commits.write { database, changes in
            for batch in batches { changes += try MirrorRow.complete(batch, at: moment, database) }
            for job in jobs {
                let hold = WebhookHold.own(at: moment.steady)
                if let change = try MirrorRow.take(job, bytes: nil, hold, database) { changes.append(change) }
            }
        }
    }

    private func take(
        _ entry: KeyValueEntry, at moment: StoreMoment, isNews: Bool, _ database: Database
    ) throws -> [JobFeed.Change] {
        switch QueueKeys.subject(of: entry.key) {
        case .job(let id):
            guard try MirrorRow.isNew(id, entry.revision, database) else { return [] }
            guard let bytes = entry.value, let job = try? cache.job(id, bytes) else {
                try MirrorRow.remove(id, entry.revision, moment.steady, database)
                return []
            }
            // What was there at the start was there before: since when, its worker's clock says.
            let age = isNews ? 0 : max(0, moment.wall - (job.startedAt ?? moment.wall))
            let known = KnownJob(value: job, revision: entry.revision, heardAt: moment.steady - age)
            let hold = WebhookHold.others(at: moment.steady)
            return try MirrorRow.take(known, bytes: bytes, hold, database).map { [$0] } ?? []
        case .batch(let id):
            if entry.value != nil { return try MirrorRow.complete(id, at: moment, database) }
            try MirrorRow.forget(batch: id, database)
        case .word:
            let word = entry.value.flatMap { try? JSONDecoder().decode(KeptWord.self, from: Data($0)) }
            try MirrorRow.take(word, key: entry.key, revision: entry.revision, database)
        case .other: break
        }
        return []
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout [JobFeed.Change]) throws -> Value
    ) async throws -> Value {
        try await commits.write(body)
    }

    /// Forgets everything, to be told anew.
    func clear() async throws {
        own.forgetAll()
        try await commits.write { database, _ in
            for table in ["job", "kept", "batch", "word"] { try database.run("DELETE FROM \(table)") }
        }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await pool.read(body)
        } catch {
            throw StoreFault.error(error)
        }
    }
}
