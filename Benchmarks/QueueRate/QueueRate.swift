import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Glibc
import Logging
import MediaTypes
import PostgresDatabase
import SQLStore
import SQLiteDatabase

/// Measures the queue alone: jobs per second through enqueue, claim and finish, and the latency of calls in a long
/// queue.
///
/// `QueueRate FOLDER` creates the folder; delete it afterwards. The rate of `always` depends on its disk.
/// `QueueRate FOLDER postgres://…` measures a PostgreSQL database instead, in schemas of its own that stay there.
/// `QueueRate FOLDER postgres://… claims SCHEMA` measures only claims, with jobs waiting in this schema.
@main
struct QueueRate {
    /// Enough jobs that startup time does not matter.
    private static let jobs = 40_000
    private static let callers = 64
    /// The concurrency of a campaign: over a network, throughput depends on concurrent requests.
    private static let manyCallers = 1_000
    private static let backlogs = [10_000, 100_000]

    static func main() async throws {
        guard [2, 3, 5].contains(CommandLine.arguments.count) else {
            print("QueueRate FOLDER [URL [claims SCHEMA]]")
            exit(2)
        }
        let folder = CommandLine.arguments[1]
        if CommandLine.arguments.count == 5 {
            let store = try await open(CommandLine.arguments[2], schema: CommandLine.arguments[4])
            printLine(try await BacklogMeasurement(store: store, backlog: backlogs[0]).runClaims())
            return await store.close()
        }
        if CommandLine.arguments.count == 3 {
            return try await measure(url: CommandLine.arguments[2])
        }
        for durability in StoreDurability.allCases {
            let store = try await open("\(folder)/\(durability.rawValue)", durability)
            let before = clock()
            let rate = try await RateMeasurement(store: store, jobs: jobs, callers: callers).run()
            let microseconds = (clock() - before) / max(1, rate.ended)
            printLine(
                "\(durability.rawValue): \(rate.perSecond) jobs/s (enqueue one, claim one, finish; "
                    + "\(callers) concurrent callers, 1,000 hosts), \(microseconds) µs of CPU time per job")
        }
        for backlog in backlogs {
            let store = try await open("\(folder)/backlog-\(backlog)", .normal)
            printLine("\(backlog) jobs queued:")
            for line in try await BacklogMeasurement(store: store, backlog: backlog).run() { printLine("  \(line)") }
            let other = try await open("\(folder)/slow-\(backlog)", .normal)
            for line in try await BacklogMeasurement(store: other, backlog: backlog).runBesideSlowHost() {
                printLine("  \(line)")
            }
        }
    }

    private static func measure(url: String) async throws {
        for callers in [callers, manyCallers] {
            let store = try await open(url, schema: "rate\(callers)")
            let before = clock()
            let rate = try await RateMeasurement(store: store, jobs: jobs, callers: callers).run()
            let microseconds = (clock() - before) / max(1, rate.ended)
            printLine(
                "PostgreSQL: \(rate.perSecond) jobs/s (enqueue one, claim one, finish; \(callers) concurrent "
                    + "callers, 1,000 hosts), \(microseconds) µs of CPU time per job in this "
                    + "process; \(rate.ended) jobs finished")
            await store.close()
        }
        for backlog in backlogs {
            let store = try await open(url, schema: "backlog\(backlog)")
            printLine("\(backlog) jobs queued:")
            for line in try await BacklogMeasurement(store: store, backlog: backlog).run() { printLine("  \(line)") }
            await store.close()
        }
    }

    private static func open(_ url: String, schema: String) async throws -> SQLJobStore {
        let database = try await PostgresDatabase.open(
            try PostgresAddress(url), schema: try PostgresSchema(schema), logger: Logger(label: "rate"))
        try await database.ensureSchema()
        try await StoreSchema.migrate(database)
        return try await SQLJobStore.open(
            database, seal: try SecretSeal("k:\(String(repeating: "A", count: 43))="), files: nil,
            uploads: NoUploads(), feed: JobFeed())
    }

    /// Prints a line and flushes it, so that it appears immediately in a redirected file, too.
    private static func printLine(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func open(_ folder: String, _ durability: StoreDurability) async throws -> SQLJobStore {
        try await SQLiteStore.open(folder: folder, durability: durability, role: .service, feed: JobFeed())
    }
}

extension JobSubmission {
    /// A unique request.
    static func numbered(_ number: Int, host: String? = nil) -> JobSubmission {
        let host = host ?? "cdn\(number % 1_000).example"
        var request = AttachmentRequest(source: "https://\(host)/pictures/\(number).jpg?size=large")
        request.headers = ["Authorization": "Bearer \(number)"]
        return JobSubmission(
            request: request, key: WorkKey("\(String(repeating: "0", count: 56))\(10_000_000 + number)-30000"),
            host: host)
    }
}

extension Manifest {
    static let sample: Manifest = {
        var manifest = Manifest(
            id: "sample", requestDigest: String(repeating: "0", count: 64), outcome: .converted,
            source: ManifestSource(url: "https://cdn.example/picture.jpg"))
        manifest.attachment = ManifestFile(
            file: "attachment.jpg", type: .jpeg, bytes: 61_220, sha256: String(repeating: "0", count: 64))
        manifest.reasons = ["image/webp is not an attachable type"]
        return manifest
    }()
}
