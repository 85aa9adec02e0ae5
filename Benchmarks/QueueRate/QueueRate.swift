import AttachPrep
import AttachPrepJobs
import Glibc
import NATS
import RichPush

/// What the queue alone does: jobs a second through enqueue, claim and finish, and how long calls take in a long queue.
///
/// `QueueRate FOLDER`: the folder is made, and what is in it afterwards may be thrown away. Its disk decides over the
/// rate of `always`. `QueueRate FOLDER nats://HOST:PORT,…` measures the queue on those servers instead, which keep what
/// it leaves there.
@main
struct QueueRate {
    /// So many that the start does not count.
    private static let jobs = 40_000
    private static let callers = 64
    /// As many as a campaign has on their way: what crosses a network gains most by company.
    private static let manyCallers = 1_000
    private static let backlogs = [10_000, 100_000]

    static func main() async throws {
        guard (2...3).contains(CommandLine.arguments.count) else {
            print("QueueRate FOLDER [SERVERS]")
            exit(2)
        }
        let folder = CommandLine.arguments[1]
        if CommandLine.arguments.count == 3 {
            return try await measure(servers: CommandLine.arguments[2], folder)
        }
        for durability in StoreDurability.allCases {
            let store = try await open("\(folder)/\(durability.rawValue)", durability)
            let before = clock()
            let rate = try await RateMeasurement(store: store, jobs: jobs, callers: callers).run()
            let microseconds = (clock() - before) / max(1, rate.ended)
            say(
                "\(durability.rawValue): \(rate.perSecond) jobs/s (enqueue one, claim one, finish; "
                    + "\(callers) callers at a time, 1,000 hosts), \(microseconds) µs of processor time a job")
        }
        for backlog in backlogs {
            let store = try await open("\(folder)/backlog-\(backlog)", .normal)
            say("\(backlog) jobs queued:")
            for line in try await BacklogMeasurement(store: store, backlog: backlog).run() { say("  \(line)") }
            let other = try await open("\(folder)/slow-\(backlog)", .normal)
            for line in try await BacklogMeasurement(store: other, backlog: backlog).runBesideSlowHost() {
                say("  \(line)")
            }
        }
    }

    private static func measure(servers: String, _ folder: String) async throws {
        let settings = NATSSettings(servers: servers.split(separator: ",").map(String.init))
        for callers in [callers, manyCallers] {
            let queue = try await open(settings, prefix: "rate\(callers)", folder)
            let before = clock()
            let rate = try await RateMeasurement(store: queue, jobs: jobs, callers: callers).run()
            let microseconds = (clock() - before) / max(1, rate.ended)
            say(
                "\(servers): \(rate.perSecond) jobs/s (enqueue one, claim one, finish; \(callers) callers "
                    + "at a time, 1,000 hosts), \(microseconds) µs of processor time a job on this "
                    + "side; \(rate.ended) have ended")
            await queue.close()
        }
    }

    /// Servers that have just started have no leader for a while.
    private static func open(
        _ settings: NATSSettings, prefix: String, _ folder: String
    ) async throws -> JetStreamQueue {
        let end = ContinuousClock.now + .seconds(Limits.queueConnectSecondsMax)
        while true {
            do {
                return try await JetStreamQueue.open(
                    settings, prefix: prefix, folder: "\(folder)/\(prefix)", feed: JobFeed())
            } catch let error as AttachPrepError {
                guard error.isRetryable, ContinuousClock.now < end else { throw error }
            }
        }
    }

    /// Prints a line when it is known, into a file as well.
    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func open(_ folder: String, _ durability: StoreDurability) async throws -> SQLiteStore {
        try await SQLiteStore.open(folder: folder, durability: durability, role: .service, feed: JobFeed())
    }
}

extension JobSubmission {
    /// A request of its own.
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
