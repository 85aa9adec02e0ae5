import AttachPrep
import Logging
import NATS
import RichPush
import Synchronization

/// Jobs on NATS JetStream: any number of machines, each with a queue of this kind, see and work off the same jobs.
///
/// A job's truth is one value in a bucket, changed only by who names the revision that he changes. A message in a
/// work-queue stream, on a subject of its own below its lane's, gives it to workers: a lease is that message's time to
/// be acknowledged. Lists and numbers come from a `JobMirror` of this machine's.
public final class JetStreamQueue: Sendable {
    let names: QueueNames
    let connection: NATSConnection
    let stream: JetStream
    let jobs: KeyValueBucket
    let logs: KeyValueBucket
    let results: KeyValueBucket
    let uploads: ObjectBucket
    let uploadFolder: UploadFolder
    let lanes: [JobPriority: PullConsumer]
    let mirror: JobMirror
    let held = HeldJobs()
    let waiting = WaitingDeliveries()
    let turns = LaneTurns()
    let desk = ClaimDesk()
    let conflicts = RevisionConflicts()
    let isolation = IsolationTurn()
    let laneStalls = Mutex<[JobPriority: LaneStall]>([:])
    /// How this process ends, for the next one on this machine.
    let run: RunRecord
    /// A message's time to be acknowledged.
    let lease: Duration
    let limits: StoreLimits
    let clock: StoreClock
    let logger: Logger
    let refusals: RefusalLog
    private let follower = Mutex<Task<Void, Never>?>(nil)
    private let folder: MachineFolder

    init(
        _ rooms: QueueRooms, names: QueueNames, folder: MachineFolder, mirror: JobMirror, lease: Duration,
        limits: StoreLimits, clock: StoreClock, logger: Logger, refusals: RefusalLog, marksCrashes: Bool
    ) {
        run = RunRecord(folder: folder.path, marksCrashes: marksCrashes)
        self.names = names
        self.folder = folder
        connection = rooms.stream.connection
        stream = rooms.stream
        jobs = rooms.jobs
        logs = rooms.logs
        results = rooms.results
        uploads = rooms.uploads
        lanes = rooms.lanes
        uploadFolder = folder.uploads
        self.mirror = mirror
        self.lease = lease
        self.limits = limits
        self.clock = clock
        self.logger = logger
        self.refusals = refusals
    }

    /// Ends all work with the servers; what comes afterwards fails with `queue.unavailable`.
    public func close() async {
        let task = follower.withLock { $0 }
        task?.cancel()
        connection.close()
        await task?.value
        do {
            try await BlockingLane().run { [mirror] in try mirror.close() }
        } catch {
            logger.error("the read model could not be closed", metadata: ["error": "\(error)"])
        }
        run.end()
        folder.close()
    }

    /// Follows the bucket of jobs until the queue is closed; returns when the mirror has all that was there.
    func startFollowing() async throws {
        let start = FollowerStart()
        let task = Task { [jobs, mirror, clock, logger] in
            let follower = JobFollower(bucket: jobs, mirror: mirror, clock: clock, logger: logger)
            await follower.run(start)
        }
        follower.withLock { $0 = task }
        try await start.wait(atMost: .seconds(Limits.mirrorSecondsMax))
    }

    deinit {
        follower.withLock { $0 }?.cancel()
    }
}
