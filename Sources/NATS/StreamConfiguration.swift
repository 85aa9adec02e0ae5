internal import FoundationEssentials
internal import SafeArithmetic

/// The configuration that a stream needs. A missing stream is created with it; an existing one is not changed.
package struct StreamConfiguration: Sendable, Hashable {
    package enum Retention: String, Codable, Sendable {
        case limits
        /// Messages are removed when they are acknowledged.
        case workQueue = "workqueue"
    }

    package var name: String
    package var description: String
    package var subjects: [String]
    package var retention = Retention.limits
    /// The number of latest messages to keep per subject; nil keeps all.
    package var messagesPerSubjectMax: Int?
    /// The age at which messages are removed; nil keeps them forever. Operators may set another in an existing stream.
    package var maxAge: Duration?
    /// The number of servers with a copy; nil means three in a cluster and one on a single server.
    package var replicas: Int?
    /// Whether a message may replace all earlier ones of its subject (`Nats-Rollup`).
    package var allowsRollup = false

    package init(_ name: String, subjects: [String], description: String) {
        self.name = name
        self.subjects = subjects
        self.description = description
    }
}

/// A stream's configuration as the API's JSON; durations are in nanoseconds.
struct StreamConfigurationJSON: Codable, Sendable {
    var name: String
    var description: String?
    var subjects: [String]?
    var retention: StreamConfiguration.Retention
    var storage = "file"
    var num_replicas: Int
    var discard = "new"
    var max_age: Int64?
    var max_msgs_per_subject: Int?
    var allow_rollup_hdrs: Bool?
    var deny_delete: Bool?

    init(_ configuration: StreamConfiguration, replicas: Int) {
        name = configuration.name
        description = configuration.description
        subjects = configuration.subjects
        retention = configuration.retention
        num_replicas = replicas
        max_age = configuration.maxAge.map(\.nanoseconds) ?? 0
        max_msgs_per_subject = configuration.messagesPerSubjectMax ?? -1
        allow_rollup_hdrs = configuration.allowsRollup
        deny_delete = false
    }
}

struct StreamInfo: Decodable, Sendable {
    struct State: Decodable, Sendable {
        var messages: Int
        var bytes: Int
    }

    struct Cluster: Decodable, Sendable {
        struct Copy: Decodable, Sendable {
            var name: String
            var current: Bool
            var offline: Bool?
        }

        var leader: String?
        var replicas: [Copy]?
    }

    var config: StreamConfigurationJSON
    var state: State?
    var cluster: Cluster?
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        // Callers may choose a time centuries away; 64 bits hold at most 292 years.
        return seconds.multiplied(clamping: 1_000_000_000).adding(clamping: attoseconds / 1_000_000_000)
    }
}

/// The configuration that a key-value or object bucket needs. A missing bucket is created with it.
package struct BucketConfiguration: Sendable, Hashable {
    package var name: String
    package var description: String
    /// The time since its last change after which an entry is removed; nil keeps it forever.
    package var maxAge: Duration?
    /// The number of servers with a copy; nil means three in a cluster and one on a single server.
    package var replicas: Int?

    package init(_ name: String, maxAge: Duration? = nil, replicas: Int? = nil, description: String) {
        self.name = name
        self.maxAge = maxAge
        self.replicas = replicas
        self.description = description
    }

    /// The stream behind a key-value bucket, in the layout of the NATS tools.
    package var stream: StreamConfiguration {
        var configuration = stream("KV_\(name)", subjects: ["$KV.\(name).>"])
        configuration.messagesPerSubjectMax = 1
        return configuration
    }

    /// The stream behind an object bucket, with chunks and object information.
    package var objectStream: StreamConfiguration {
        stream("OBJ_\(name)", subjects: ["$O.\(name).C.>", "$O.\(name).M.>"])
    }

    private func stream(_ name: String, subjects: [String]) -> StreamConfiguration {
        var configuration = StreamConfiguration(name, subjects: subjects, description: description)
        configuration.maxAge = maxAge
        configuration.allowsRollup = true
        configuration.replicas = replicas
        return configuration
    }
}

extension JetStream {
    /// Creates a missing stream, or checks an existing one without changing it.
    ///
    /// Operators may choose another age limit, number of replicas and size limit than the configuration.
    /// - Returns: Whether it was missing.
    /// - Throws: `NATSError.apiError` when it cannot be created; `StreamMismatchError` when a stream of that name has
    ///   an incompatible configuration.
    @discardableResult
    package func ensure(_ configuration: StreamConfiguration) async throws -> Bool {
        guard try await status(configuration) == nil else { return false }
        try await make(configuration)
        return true
    }

    /// The status of a stream; nil when it does not exist.
    ///
    /// - Throws: `StreamMismatchError` when a stream of that name has an incompatible configuration.
    package func status(_ configuration: StreamConfiguration) async throws -> StreamStatus? {
        do {
            let found: StreamInfo = try await request("STREAM.INFO.\(configuration.name)")
            try Self.check(found.config, against: configuration)
            return StreamStatus(found)
        } catch let error as NATSError where error.hasErrorCode(NATSError.APIErrorCode.streamNotFound) {
            return nil
        }
    }

    /// Whether the servers serve a stream.
    ///
    /// For a stream without a leader, one of its servers answers without naming one, or, if none of them is connected,
    /// nobody does (both seen with nats-server 2.15.1), as while the servers themselves have no leader. Then the list
    /// of names shows: their leader has it.
    package func availability(_ configuration: StreamConfiguration) async -> StreamAvailability {
        do {
            guard let status = try await status(configuration) else { return .missing }
            return status.hasLeader ? .available(status) : .leaderless
        } catch let error as NATSError where error.isWithoutAnswer {
            let listed: StreamNames? = try? await request(
                "STREAM.NAMES", SubjectFilter(subject: configuration.subjects.first ?? ""))
            return listed?.streams?.contains(configuration.name) == true ? .leaderless : .unknown
        } catch {
            return .unknown
        }
    }

    /// Deletes a stream with its messages and consumers.
    ///
    /// The servers delete a stream without a leader, but send no answer (measured with nats-server 2.15.1); so none is
    /// needed, and the caller checks.
    package func delete(_ name: String) async throws {
        do {
            let _: StreamDeletion = try await request("STREAM.DELETE.\(name)")
        } catch let error as NATSError
            where error.isWithoutAnswer || error.hasErrorCode(NATSError.APIErrorCode.streamNotFound)
        {}
    }

    package func messageCount(_ name: String) async throws -> Int {
        let found: StreamInfo = try await request("STREAM.INFO.\(name)")
        return found.state?.messages ?? 0
    }

    package func purge(_ name: String) async throws {
        let _: StreamPurge = try await request("STREAM.PURGE.\(name)")
    }

    func purge(_ name: String, subject: String) async throws {
        let _: StreamPurge = try await request("STREAM.PURGE.\(name)", SubjectPurge(filter: subject))
    }

    private func make(_ configuration: StreamConfiguration) async throws {
        do {
            try await make(configuration, replicas: configuration.replicas ?? Self.replicasOfCluster)
        } catch let error as NATSError
            where error.hasErrorCode(NATSError.APIErrorCode.replicasNeedCluster) && configuration.replicas == nil
        {
            try await make(configuration, replicas: 1)
        } catch NATSError.apiError(_, let errorCode, let text, let operation)
            where [NATSError.APIErrorCode.replicasNeedCluster, NATSError.APIErrorCode.noSuitablePeers]
            .contains(errorCode)
        {
            throw NATSError.tooFewServers(
                replicas: configuration.replicas ?? Self.replicasOfCluster, errorCode: errorCode, text: text,
                operation: operation)
        }
    }

    /// Three replicas, so that one server can fail.
    private static let replicasOfCluster = 3

    private func make(_ configuration: StreamConfiguration, replicas: Int) async throws {
        // Not an error when another process creates the same stream at the same time.
        let made: StreamInfo = try await request(
            "STREAM.CREATE.\(configuration.name)", StreamConfigurationJSON(configuration, replicas: replicas))
        try Self.check(made.config, against: configuration)
    }

    /// Checks the settings that the queue depends on; pure.
    static func check(_ found: StreamConfigurationJSON, against configuration: StreamConfiguration) throws {
        let differences = [
            (found.subjects ?? []).sorted() == configuration.subjects.sorted() ? nil : "subjects",
            found.retention == configuration.retention ? nil : "retention",
            (found.max_msgs_per_subject ?? -1) == (configuration.messagesPerSubjectMax ?? -1)
                ? nil : "max_msgs_per_subject",
            !configuration.allowsRollup || found.allow_rollup_hdrs == true ? nil : "allow_rollup_hdrs",
            configuration.retention == .limits || (found.max_age ?? 0) == 0 ? nil : "max_age",
            found.discard == "new" ? nil : "discard",
        ].compactMap(\.self)
        guard differences.isEmpty else { throw StreamMismatchError(name: configuration.name, differences: differences) }
    }
}

/// An existing stream or consumer has an incompatible configuration.
package struct StreamMismatchError: Error, Sendable, Hashable, CustomStringConvertible {
    package var name: String
    /// The names of the differing settings in the API's JSON.
    package var differences: [String]

    package var description: String { "\(name) has incompatible settings (\(differences.joined(separator: ", ")))" }
}

private struct StreamPurge: Decodable {
    var purged: Int
}

private struct StreamDeletion: Decodable {
    var success: Bool
}

private struct SubjectFilter: Encodable {
    var subject: String
}

/// At most 1,024 names; a filter by the subjects of one stream leaves one.
private struct StreamNames: Decodable {
    var streams: [String]?
}

private struct SubjectPurge: Encodable {
    var filter: String
}

/// Whether the servers serve a stream.
package enum StreamAvailability: Sendable, Hashable {
    case available(StreamStatus)
    case missing
    /// It exists, the servers have a leader, and the stream has none.
    case leaderless
    /// The servers do not answer, have no leader themselves, or deny the request.
    case unknown
}

/// The state of an existing stream, for operators.
package struct StreamStatus: Sendable, Hashable {
    package var messages: Int
    /// The size of one copy.
    package var bytes: Int
    /// The configured number of copies.
    package var replicas: Int
    /// The name of the leader; nil when there is none now, and on a single server.
    package var leader: String?
    package var hasLeader: Bool
    /// The names of the servers that are offline or whose copy is behind.
    package var laggingServers: [String]
    /// Whether all servers with a copy are connected.
    package var hasAllServers: Bool
}

extension StreamStatus {
    init(_ found: StreamInfo) {
        messages = found.state?.messages ?? 0
        bytes = found.state?.bytes ?? 0
        replicas = found.config.num_replicas
        leader = found.cluster?.leader
        hasLeader = found.cluster.map { $0.leader != nil } ?? true
        hasAllServers = (found.cluster?.replicas ?? []).allSatisfy { $0.offline != true }
        laggingServers = (found.cluster?.replicas ?? []).filter { !$0.current || $0.offline == true }.map(\.name)
    }
}
