package import AttachPrepModel
import MediaTypes

/// What jobs need and do not cause the failure of. While one is away, jobs wait for it, and no attempt is counted.
public enum Dependency: String, Codable, Sendable, Hashable, CaseIterable {
    /// The disk of the data folder: full, read-only or failing.
    case disk
    /// The database of the queue.
    case database
    /// The bucket of results and uploads.
    case bucket
    /// The key that signs requests to the bucket: missing, expired, rejected, or without a permission.
    case signingKey = "signing_key"
    /// The key that opens the secrets of a job in PostgreSQL: not in the key file of this machine.
    case queueKey = "queue_key"
    /// The name servers of this machine.
    case resolver

    /// The dependencies that error codes name. All other failures are the job's own.
    private static let codes: [ErrorCode: Dependency] = [
        .outputNoSpace: .disk,
        .outputNotWritable: .disk,
        .queueUnavailable: .database,
        .publishUnavailable: .bucket,
        .publishNotFound: .bucket,
        .publishDenied: .signingKey,
    ]

    /// The dependency that a failure names; nil when the failure is the job's own.
    ///
    /// - Parameter isResolverAway: whether no name at all is resolved. Otherwise a name that is not resolved is the
    ///   failure of its job.
    package init?(namedBy code: ErrorCode, isResolverAway: Bool) {
        if code == .downloadDNS {
            guard isResolverAway else { return nil }
            self = .resolver
            return
        }
        guard let dependency = Self.codes[code] else { return nil }
        self = dependency
    }

    /// The word for logs and sentences.
    var name: String {
        switch self {
        case .disk: "disk"
        case .database: "database"
        case .bucket: "bucket"
        case .signingKey: "signing key"
        case .queueKey: "queue key"
        case .resolver: "name servers"
        }
    }

    /// Whether it is checked with a request of its own. The others are tried with one job.
    var hasProbe: Bool { self == .bucket || self == .signingKey || self == .resolver }
}

/// A dependency that is away, and why.
public struct DependencyOutage: Codable, Sendable, Hashable {
    public var dependency: Dependency
    /// A sentence for the operator.
    public var reason: String

    public init(_ dependency: Dependency, reason: String) {
        (self.dependency, self.reason) = (dependency, reason)
    }

    /// What waits, for what, and why.
    var sentence: String { "Jobs wait for the \(dependency.name): \(reason)" }
}
