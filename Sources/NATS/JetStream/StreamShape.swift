internal import SafeArithmetic

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// How a stream has to be: made so when it is not there, and else left as it is.
package struct StreamShape: Sendable, Hashable {
    package enum Retention: String, Codable, Sendable {
        case limits
        /// What is acknowledged is gone.
        case workQueue = "workqueue"
    }

    package var name: String
    package var description: String
    package var subjects: [String]
    package var retention = Retention.limits
    /// Of each subject, so many are kept, the latest; nil keeps all.
    package var countPerSubject: Int?
    /// What is older goes; nil keeps it for ever. Operators may choose another.
    package var age: Duration?
    /// Servers that keep a copy; nil takes three from a cluster and one from a server alone.
    package var replicas: Int?
    /// Whether a message may take the place of all earlier ones of its subject.
    package var allowsRollUp = false

    package init(_ name: String, subjects: [String], description: String) {
        self.name = name
        self.subjects = subjects
        self.description = description
    }
}

/// A stream's configuration in the API's words; durations are nanoseconds.
struct StreamConfiguration: Codable, Sendable {
    var name: String
    var description: String?
    var subjects: [String]?
    var retention: StreamShape.Retention
    var storage = "file"
    var num_replicas: Int
    var discard = "new"
    var max_age: Int64?
    var max_msgs_per_subject: Int?
    var allow_rollup_hdrs: Bool?
    var deny_delete: Bool?

    init(_ shape: StreamShape, replicas: Int) {
        name = shape.name
        description = shape.description
        subjects = shape.subjects
        retention = shape.retention
        num_replicas = replicas
        max_age = shape.age.map(\.nanoseconds) ?? 0
        max_msgs_per_subject = shape.countPerSubject ?? -1
        allow_rollup_hdrs = shape.allowsRollUp
        deny_delete = false
    }
}

/// What the API says of a stream.
struct StreamInformation: Decodable, Sendable {
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

    var config: StreamConfiguration
    var state: State?
    var cluster: Cluster?
}

extension Duration {
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        // A time that a caller named may be centuries away: the longest that servers can be told is 292 years.
        return seconds.multiplied(clamping: 1_000_000_000).adding(clamping: attoseconds / 1_000_000_000)
    }
}
