import AttachPrep
import AttachPrepJobs
import GRDB
import Logging
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

/// Decides when the stream of lanes is recreated. Pure.
///
/// After a power failure of all servers, nats-server 2.15.1 can leave a stream without a leader for good. The stream of
/// lanes can then be deleted, because its messages are derived from the jobs, which are in another stream.
struct LaneStreamRepair: Sendable {
    enum Step: Sendable, Hashable {
        case none
        /// No server has it, or it is incomplete.
        case make
        /// It has no leader: delete it and make it.
        case replace
    }

    /// For how long it was seen without a leader, in milliseconds. Time without an answer does not count.
    private var leaderless: Int64 = 0
    /// The time of the last observation, if it had no leader then.
    private var seenLeaderless: Int64?
    /// Whether it was made only in part: the servers may carry out a request without an answer.
    private var isUnfinished = false
    /// Different on each machine, so that usually one of them replaces it, and not several at once.
    private let patience: Int64

    /// Elections take at most 9 s, and a server that starts catches up before it can win one.
    static let patienceMilliseconds: ClosedRange<Int64> = 20_000...26_000

    init(patience: Int64 = .random(in: Self.patienceMilliseconds)) {
        self.patience = patience
    }

    /// - Parameters:
    ///   - jobs: the stream of jobs, which has its replicas on the same servers.
    ///   - steady: milliseconds of the steady clock.
    mutating func step(lanes: StreamAvailability, jobs: StreamAvailability, at steady: Int64) -> Step {
        switch lanes {
        case .available, .missing:
            (leaderless, seenLeaderless) = (0, nil)
            isUnfinished = isUnfinished || lanes == .missing
            return isUnfinished ? .make : .none
        case .unknown:
            seenLeaderless = nil
            return .none
        case .leaderless:
            leaderless = leaderless.adding(clamping: steady.subtracting(clamping: seenLeaderless ?? steady))
            seenLeaderless = steady
            // It may be waiting for a server that is not connected, without which it could not be made either.
            guard leaderless >= patience, case .available(let status) = jobs, status.hasAllServers else { return .none }
            (leaderless, seenLeaderless, isUnfinished) = (0, nil, true)
            return .replace
        }
    }

    /// It was made, and has the messages of all waiting jobs.
    mutating func finished() { isUnfinished = false }
}

/// Remembers which streams cannot be used, for `/readyz`: pure.
struct StreamOutages: Sendable {
    private struct Outage {
        var since: Int64
        var availability: StreamAvailability
    }

    private var outages: [String: Outage] = [:]

    /// 10 s: an election is no reason to take a machine out of service.
    static let reportedMilliseconds: Int64 = 10_000

    mutating func observe(_ name: String, _ availability: StreamAvailability, at steady: Int64) {
        if case .available = availability {
            outages[name] = nil
        } else {
            outages[name] = Outage(since: outages[name]?.since ?? steady, availability: availability)
        }
    }

    /// A sentence on the stream that has been unusable the longest; nil when none has been for long.
    ///
    /// - Parameter repaired: the stream that attachprep makes again.
    func unavailableReason(at steady: Int64, repaired: String) -> String? {
        let lasting = outages.filter { steady.subtracting(clamping: $0.value.since) >= Self.reportedMilliseconds }
        guard let (name, outage) = lasting.min(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) }) else {
            return nil
        }
        return switch outage.availability {
        case .leaderless where name == repaired:
            "The NATS stream \(name) has no leader, so that no job can be submitted; it is made again when all NATS "
                + "servers have been connected for some seconds."
        case .leaderless:
            "The NATS stream \(name) has no leader; see \"A stream without a leader\" in the documentation of several "
                + "machines."
        case .missing:
            "The NATS stream \(name) is missing; it is created when the servers permit it; see the log."
        case .unknown, .available:
            "The NATS servers do not answer requests about the stream \(name): they have no leader, because the "
                + "majority of them is not connected."
        }
    }
}

extension NATSJobQueue {
    /// The interval of `checkStreams`: two requests to the servers each time.
    static let streamCheckInterval = Duration.seconds(5)

    /// Checks whether the streams of lanes and jobs can be used, and makes that of lanes again when it is lost.
    func checkStreams() async {
        // Without a connection, there is another sentence in `unavailableReason`.
        guard connection.isConnected, connection.versionError == nil else { return }
        let lanes = await stream.availability(layout.lanes)
        let jobs = await stream.availability(layout.jobs.stream)
        let now = clock.now().steady
        let step = streams.withLock { streams in
            streams.outages.observe(names.lanes, lanes, at: now)
            streams.outages.observe(layout.jobs.stream.name, jobs, at: now)
            if case .available(let status) = lanes { streams.replicas = status.replicas }
            return streams.repair.step(lanes: lanes, jobs: jobs, at: now)
        }
        guard step != .none, !Task.isCancelled else { return }
        do {
            if step == .replace { try await deleteLeaderlessLanes() }
            try await makeLanes(isIncomplete: true)
            streams.withLock { $0.repair.finished() }
        } catch {
            _ = mapError(error)
            logger.error(
                "cannot make the stream of lanes again; run: nats stream rm \(names.lanes)",
                metadata: ["error": "\(error)"])
        }
    }

    private func deleteLeaderlessLanes() async throws {
        // Another machine may have been faster.
        guard await stream.availability(layout.lanes) == .leaderless else { return }
        logger.warning(
            "a NATS stream has no leader although all servers are connected; deleting it and making it again",
            metadata: ["stream": "\(names.lanes)"])
        try await stream.delete(names.lanes)
    }

    /// Makes the stream of lanes and its consumers if they are missing, and then publishes the message of every waiting
    /// job.
    ///
    /// A running job's message is not published: another worker would take its lease for expired. If its worker is
    /// lost, `sweep` publishes it.
    ///
    /// - Parameter isIncomplete: whether messages may be missing in any case.
    func makeLanes(isIncomplete: Bool = false) async throws {
        var lanes = layout.lanes
        // An operator may have changed it.
        lanes.replicas = streams.withLock { $0.replicas } ?? lanes.replicas
        let isNew = try await layout.ensure(lanes, in: stream)
        guard isNew || isIncomplete else { return }
        var count = 0
        for lane in JobPriority.allCases {
            var last: StoredJob?
            while true {
                let page = try await mirror.queued(lane, after: last, count: Self.sweptCount).map(\.value)
                try await publish(page)
                count = count.adding(clamping: page.count)
                guard page.count == Self.sweptCount else { break }
                last = page.last
            }
        }
        logger.notice(
            "made the stream of lanes; the waiting jobs are in it again",
            metadata: ["stream": "\(names.lanes)", "jobs": "\(count)"])
    }
}

extension QueueLayout {
    /// Makes the stream of lanes and its consumers if they are missing, or checks them.
    ///
    /// - Returns: Whether one of them was missing.
    @discardableResult
    func ensure(_ lanes: StreamConfiguration, in stream: JetStream) async throws -> Bool {
        var isIncomplete = try await stream.ensure(lanes)
        for lane in JobPriority.allCases {
            let isNew = try await stream.ensureConsumer(lane.rawValue, consumer(lane))
            isIncomplete = isIncomplete || isNew
        }
        return isIncomplete
    }
}

extension JobMirror {
    /// The waiting jobs of a lane in the order of their dates, after the last one of the former page.
    func queued(_ lane: JobPriority, after last: StoredJob?, count: Int) async throws -> [VersionedJob] {
        let arguments: StatementArguments = [lane.lane, last?.dueAt ?? .min, last?.id ?? "", count]
        return try await read {
            try VersionedJob.all(
                """
                FROM job INDEXED BY job_queued WHERE state = 'queued' AND parked = 0 AND lane = ?1
                    AND (due_at, uuid) > (?2, ?3) ORDER BY due_at, uuid LIMIT ?4
                """, arguments, $0)
        }
    }
}
