import AttachPrep
package import Logging
package import NATS
import RichPush
import SafeArithmetic

extension JetStreamQueue {
    /// Opens the queue on the servers, which get its streams and buckets when they have none; those that they have are
    /// checked and left as they are.
    ///
    /// - Parameters:
    ///   - settings: how the servers are reached.
    ///   - prefix: what the names of streams, buckets and subjects begin with.
    ///   - replicas: servers that keep a copy of everything; nil takes three from a cluster.
    ///   - folder: what is this machine's own: the read model, which is made anew, and copies of uploads; nil takes a
    ///     passing one.
    ///   - lease: how long a message may go unacknowledged; the same on all machines.
    ///   - feed: hears of every change, other machines' too.
    ///   - marksCrashes: whether a crash of this process leaves a mark in the folder, for which signal handlers are
    ///     installed: the next process tells a crash from a kill by it.
    /// - Throws: `queue.unavailable`, which says what is in the way.
    package static func open(
        _ settings: NATSSettings, prefix: String = "attachprep", replicas: Int? = nil, folder: String? = nil,
        lease: Duration = .seconds(Limits.leaseSeconds), limits: StoreLimits = StoreLimits(),
        clock: StoreClock = .system, feed: JobFeed, logger: Logger = Logger(label: "attachprep.jobs"),
        marksCrashes: Bool = false
    ) async throws -> JetStreamQueue {
        var servers = QueueServers(settings)
        (servers.prefix, servers.replicas) = (prefix, replicas)
        return try await open(
            servers, folder: folder, lease: lease, limits: limits, clock: clock, feed: feed, logger: logger,
            marksCrashes: marksCrashes)
    }

    /// The same, of servers as they were named.
    ///
    /// - Parameter refusals: where refusals are explained; nil takes one of the queue's own. Who opens it again and
    ///   again gives the same one, so that a reason is written once.
    package static func open(
        _ servers: QueueServers, folder: String? = nil, lease: Duration = .seconds(Limits.leaseSeconds),
        limits: StoreLimits = StoreLimits(), clock: StoreClock = .system, feed: JobFeed,
        logger: Logger = Logger(label: "attachprep.jobs"), refusals: RefusalLog? = nil, marksCrashes: Bool = false
    ) async throws -> JetStreamQueue {
        let refusals = refusals ?? RefusalLog(logger)
        let connection = try await QueueFault.named { try await NATSConnection.connect(servers.checkedSettings) }
        do {
            let shapes = QueueShapes(
                names: QueueNames(prefix: servers.prefix), replicas: servers.replicas, lease: lease, limits: limits)
            let rooms = try await QueueRooms(shapes, in: JetStream(connection))
            let (own, mirror) = try await BlockingLane().run {
                let own = try MachineFolder(folder)
                return (own, try JobMirror(path: own.mirrorPath, feed: feed, at: clock.now()))
            }
            let queue = JetStreamQueue(
                rooms, names: shapes.names, folder: own, mirror: mirror, lease: lease, limits: limits, clock: clock,
                logger: logger, refusals: refusals, marksCrashes: marksCrashes)
            do {
                try await queue.startFollowing()
                try await queue.beginRun()
            } catch {
                await queue.close()
                throw error
            }
            return queue
        } catch {
            refusals.note(error, from: connection.serverAddress)
            connection.close()
            throw QueueFault.error(error)
        }
    }
}

extension JetStreamQueue {
    /// Acts on how the process before this one ended on this machine, then begins a record of its own.
    ///
    /// A worker that is gone from another machine says nothing: whether it crashed, its own next start tells.
    fileprivate func beginRun() async throws {
        if case .crashed(let signal) = run.former, let worker = run.formerWorker {
            let now = clock.now().wall
            var crashed: [CrashedJob] = []
            for id in try await mirror.held(by: worker) {
                let changed = try await change(id, from: nil) { $0.crashed(worker, at: now) }
                guard let changed, let job = JobID(id) else { continue }
                crashed.append(CrashedJob(id: job, crashes: changed.value.crashes ?? 0))
            }
            logger.report(crashed, signal: signal)
        }
        try run.begin()
    }
}

/// Streams, consumers and buckets, as they are there.
struct QueueRooms: Sendable {
    let stream: JetStream
    let lanes: [JobPriority: PullConsumer]
    let jobs: KeyValueBucket
    let logs: KeyValueBucket
    let results: KeyValueBucket
    let uploads: ObjectBucket

    init(_ shapes: QueueShapes, in stream: JetStream) async throws {
        self.stream = stream
        try await stream.ensure(shapes.lanes)
        try await stream.ensure(shapes.deadLetters)
        var lanes: [JobPriority: PullConsumer] = [:]
        for lane in JobPriority.allCases {
            lanes[lane] = try await stream.consumer(lane.rawValue, shapes.consumer(lane))
        }
        self.lanes = lanes
        jobs = try await .open(shapes.jobs, in: stream)
        logs = try await .open(shapes.logs, in: stream)
        results = try await .open(shapes.results, in: stream)
        uploads = try await .open(shapes.uploads, in: stream)
    }
}

/// The streams, consumers and buckets that the queue needs.
struct QueueShapes: Sendable {
    let names: QueueNames
    let replicas: Int?
    let lease: Duration
    let limits: StoreLimits

    /// All of them.
    var streams: [StreamShape] {
        [lanes, deadLetters] + [jobs, logs, results].map(\.stream) + [uploads.objectStream]
    }

    var lanes: StreamShape {
        var shape = StreamShape(
            names.lanes, subjects: [names.laneSubjects], description: "attachprep: jobs that wait or run")
        shape.retention = .workQueue
        shape.replicas = replicas
        return shape
    }

    var deadLetters: StreamShape {
        var shape = StreamShape(
            names.deadLetters, subjects: [names.deadLetterSubjects], description: "attachprep: dead letters")
        shape.age = .seconds(clamping: limits.deadRetentionSeconds)
        shape.replicas = replicas
        return shape
    }

    func consumer(_ lane: JobPriority) -> ConsumerShape {
        var shape = ConsumerShape(stream: names.lanes, filter: names.laneFilter(lane))
        shape.description = "attachprep: the lane \(lane.rawValue)"
        shape.acknowledgeTime = lease
        return shape
    }

    /// Without an age: a job may wait for longer than any.
    var jobs: BucketShape {
        BucketShape(names.jobs, age: nil, replicas: replicas, description: "attachprep: jobs, their truth")
    }

    var logs: BucketShape {
        BucketShape(
            names.logs, age: .seconds(clamping: limits.retentionSeconds), replicas: replicas,
            description: "attachprep: job logs")
    }

    var results: BucketShape {
        BucketShape(
            names.results, age: .seconds(clamping: limits.retentionSeconds), replicas: replicas,
            description: "attachprep: results, by what was asked for")
    }

    /// As long as jobs may be tried again that name them.
    var uploads: BucketShape {
        BucketShape(
            names.uploads, age: .seconds(clamping: max(limits.retentionSeconds, limits.deadRetentionSeconds)),
            replicas: replicas,
            description: "attachprep: files that callers sent")
    }
}
