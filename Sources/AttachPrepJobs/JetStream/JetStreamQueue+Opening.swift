import AttachPrep
package import Logging
package import NATS
import RichPush

extension JetStreamQueue {
    /// Opens the queue on the servers, which get its streams and buckets when they have none; those that they have are
    /// checked and left as they are.
    ///
    /// - Parameters:
    ///   - settings: how the servers are reached.
    ///   - prefix: what the names of streams, buckets and subjects begin with.
    ///   - replicas: servers that keep a copy of everything; nil takes three from a cluster.
    ///   - lease: how long a message may go unacknowledged; the same on all machines.
    ///   - mirrorPath: of the read model's database, which is made anew.
    ///   - feed: hears of every change, other machines' too.
    /// - Throws: `queue.unavailable`, which says what is in the way.
    package static func open(
        _ settings: NATSSettings, prefix: String = "attachprep", replicas: Int? = nil, mirrorPath: String,
        lease: Duration = .seconds(Limits.leaseSeconds), limits: StoreLimits = StoreLimits(),
        clock: StoreClock = .system, feed: JobFeed, logger: Logger = Logger(label: "attachprep.jobs")
    ) async throws -> JetStreamQueue {
        try await QueueFault.named {
            let connection = try await NATSConnection.connect(settings)
            let shapes = QueueShapes(
                names: QueueNames(prefix: prefix), replicas: replicas, lease: lease, limits: limits)
            let stream = JetStream(connection)
            try await stream.ensure(shapes.lanes)
            try await stream.ensure(shapes.deadLetters)
            var lanes: [JobPriority: PullConsumer] = [:]
            for lane in JobPriority.allCases {
                lanes[lane] = try await stream.consumer(lane.rawValue, shapes.consumer(lane))
            }
            let mirror = try await BlockingLane().run { try JobMirror(path: mirrorPath, feed: feed) }
            let queue = JetStreamQueue(
                names: shapes.names, connection: connection, stream: stream,
                jobs: try await KeyValueBucket.open(shapes.jobs, in: stream),
                logs: try await KeyValueBucket.open(shapes.logs, in: stream),
                work: WorkClaims(bucket: try await KeyValueBucket.open(shapes.work, in: stream)), lanes: lanes,
                mirror: mirror,
                lease: lease, limits: limits, clock: clock, logger: logger)
            try await queue.startFollowing()
            return queue
        }
    }
}

/// The streams, consumers and buckets that the queue needs.
struct QueueShapes: Sendable {
    let names: QueueNames
    let replicas: Int?
    let lease: Duration
    let limits: StoreLimits

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
        shape.age = .seconds(limits.deadRetentionSeconds)
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

    /// Nobody works for that long on a job; what is left by a worker that is gone goes by itself.
    var work: BucketShape {
        BucketShape(
            names.work, age: .seconds(3600), replicas: replicas, description: "attachprep: what is being worked on")
    }

    var logs: BucketShape {
        BucketShape(
            names.logs, age: .seconds(limits.retentionSeconds), replicas: replicas, description: "attachprep: job logs")
    }
}
