import AttachPrep
import GRDB
import NATS
import RichPush
import SafeArithmetic
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the servers have, in SQLite tables of this machine's: lists, searches and numbers come from here.
///
/// It is fed by a watch on the bucket of jobs, in which our own changes come back, and made anew at each start. Of two
/// things that are heard of one key the one with the higher revision holds.
final class JobMirror: Sendable {
    private let path: String
    let pool: DatabasePool
    let hearing = MirrorHearing()
    private let queued: QueuedCount
    let own = OwnChanges()
    private let jumps: ClockJumps
    private let commits: GroupCommit

    /// - Parameter path: of a database, which is thrown away first.
    init(path: String, feed: JobFeed, at moment: StoreMoment) throws {
        self.path = path
        jumps = ClockJumps(moment)
        try Self.remove(path)
        var configuration = GRDB.Configuration()
        configuration.label = "attachprep.mirror"
        configuration.prepareDatabase { database in
            // What a power failure takes is made anew.
            try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY")
            // It has the secrets of jobs that can still run: what is wiped is gone from its pages, too.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            // Its tail is where most changes are: 32 MB of it stay in memory, and as much of the log is written before
            // it is gone through.
            try database.execute(sql: "PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 8192")
        }
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = OFF")
                for part in StoreSchema.jobTables + [MirrorSchema.tables] { try database.execute(sql: part) }
                // What the clock shows now is what its later steps are measured from.
                try ClockJumps.follow(database, at: moment)
            }
        } catch {
            throw StoreFault.error(error)
        }
        let queued = QueuedCount()
        commits = GroupCommit(pool: pool, feed: feed) { database in
            let number = try database.number("SELECT number FROM tally WHERE name = 'queued'")
            queued.latest.store(Int(clamping: number ?? 0), ordering: .relaxed)
        }
        self.queued = queued
    }

    /// Jobs that wait.
    var queuedCount: Int { queued.latest.load(ordering: .relaxed) }

    /// As of the last commit: who takes a job in asks each time, and should not have to ask the database.
    private final class QueuedCount: Sendable {
        let latest = Atomic(0)
    }

    /// It goes with its process: it is made anew at each start, and nothing of it is left on the disk.
    func close() throws {
        try pool.close()
        try Self.remove(path)
    }

    private static func remove(_ path: String) throws {
        for file in [path, "\(path)-wal", "\(path)-shm"] where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
    }

    /// Moves the waits of webhooks with this machine's wall clock, when it was stepped.
    func follow(_ moment: StoreMoment) async throws {
        try await jumps.follow(moment, in: commits)
    }

    /// Once a minute: what was wiped is in the log until that is written back.
    func emptyLog() async throws {
        try await BlockingLane().run { [pool] in try pool.emptyLog() }
    }

    /// Takes in what was heard of the bucket.
    ///
    /// - Parameter isNews: whether others are told of it; what was there at the start is none.
    func take(_ entries: [KeyValueEntry], at moment: StoreMoment, isNews: Bool) async throws {
        guard !entries.isEmpty else { return }
        try await commits.write { database, changes in
            for entry in entries {
                let told = try self.take(entry, at: moment, isNews: isNews, database)
                if isNews { changes += told }  // Bounded: lists, not numbers.
            }
        }
    }

    /// Waits until lists show our own changes, which come back from the servers in the order of all. Those that do not
    /// come back are taken in as they were made.
    ///
    /// - Parameter revision: of what was changed last; nil for the last of the jobs.
    func take(
        _ jobs: [KnownJob], batch: String? = nil, until revision: UInt64? = nil, at moment: StoreMoment
    ) async throws {
        guard let last = revision ?? jobs.map(\.revision).max() else { return }
        if await hearing.wait(for: last, atMost: Self.hearingTime) { return }
        try await commits.write { database, changes in
            // Bounded: lists, not numbers.
            if let batch { changes += try self.complete(batch, at: moment, database) }
            for job in jobs {
                let hold = WebhookHold.own(at: moment)
                if let change = try MirrorRow.take(job, hold, database) { changes.append(change) }
            }
        }
    }

    /// Takes a job as the leader has it in the place of what was heard, which the leader does not have.
    ///
    /// - Parameter job: nil for one that it does not have.
    func correct(_ id: String, _ job: KnownJob?, at moment: StoreMoment) async throws {
        try await commits.write { database, changes in
            try MirrorRow.forget(id, database)
            guard let job else { return }
            if let change = try MirrorRow.take(job, .others(at: moment), database) { changes.append(change) }
        }
    }

    /// Changes come back within milliseconds.
    private static let hearingTime = Duration.seconds(1)

    private func take(
        _ entry: KeyValueEntry, at moment: StoreMoment, isNews: Bool, _ database: Database
    ) throws -> [JobFeed.Change] {
        switch QueueKeys.subject(of: entry.key) {
        case .job(let id):
            return try take(entry, of: id, at: moment, isNews: isNews, database).map { [$0] } ?? []
        case .batch(let id):
            if entry.value != nil { return try complete(id, at: moment, database) }
            try MirrorRow.forget(batch: id, database)
        case .word:
            let word = entry.value.flatMap { try? JSONDecoder().decode(KeptWord.self, from: Data($0)) }
            try MirrorRow.take(word, key: entry.key, revision: entry.revision, database)
        case .other: break
        }
        return []
    }

    private func take(
        _ entry: KeyValueEntry, of id: String, at moment: StoreMoment, isNews: Bool, _ database: Database
    ) throws -> JobFeed.Change? {
        if let bytes = entry.value, let job = own.job(id, bytes) {
            let known = KnownJob(value: job, revision: entry.revision, heardAt: moment.steady)
            return try MirrorRow.take(known, .own(at: moment), database)
        }
        guard try MirrorRow.isNew(id, entry.revision, database) else { return nil }
        guard let bytes = entry.value else {
            try MirrorRow.remove(id, entry.revision, moment.steady, database)
            return nil
        }
        guard let job = try? KeptJob(bytes) else {
            // A later version's, perhaps: who can read it knows what it is.
            try MirrorRow.forget(id, database)
            return nil
        }
        // What was there at the start was there before: since when, its worker's clock says.
        let age = isNews ? 0 : max(0, moment.wall.subtracting(clamping: job.startedAt ?? moment.wall))
        let known = KnownJob(value: job, revision: entry.revision, heardAt: moment.steady.subtracting(clamping: age))
        return try MirrorRow.take(known, .others(at: moment), database)
    }

    private func complete(_ batch: String, at moment: StoreMoment, _ database: Database) throws -> [JobFeed.Change] {
        try MirrorRow.complete(batch, at: moment, database) { try self.own.job($0, $1) ?? KeptJob($1) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout [JobFeed.Change]) throws -> Value
    ) async throws -> Value {
        try await commits.write(body)
    }

    /// Forgets everything, to be told anew.
    func clear() async throws {
        try await commits.write { database, _ in
            for table in MirrorSchema.names { try database.run("DELETE FROM \(table)") }
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
