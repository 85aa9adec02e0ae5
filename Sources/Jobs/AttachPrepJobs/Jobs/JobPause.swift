public import AttachPrep
package import AttachPrepModel
public import FoundationEssentials
package import MediaTypes
import SafeArithmetic

/// Pauses of a queue: they hold for the workers of all machines, and last until they are ended.
public protocol PauseStore: Sendable {
    /// The pauses in force, the latest first.
    func pauses() async throws -> [JobPause]

    /// Keeps waiting jobs from being claimed; running jobs end as usual. Replaces an earlier pause of the same jobs.
    ///
    /// - Throws: `request.conflict` for more than `Limits.pausesMax` pauses.
    func pause(_ target: PauseTarget, reason: String?, by caller: String?) async throws -> JobPause

    /// Ends a pause.
    ///
    /// - Returns: False when there was none.
    func resume(_ target: PauseTarget) async throws -> Bool
}

/// The jobs that a pause holds back.
public enum PauseTarget: Sendable, Hashable {
    case all
    case lane(JobPriority)
    /// Jobs whose source has this host name, in lowercase.
    case host(String)

    /// The jobs that a caller names; exactly one of the three is given.
    ///
    /// - Throws: `request.invalid`.
    package init(all: Bool?, lane: JobPriority?, host: String?) throws {
        switch (all ?? false, lane, host) {
        case (true, nil, nil): self = .all
        case (false, let lane?, nil): self = .lane(lane)
        case (false, nil, let host?): self = .host(try Self.hostName(host))
        default:
            throw AttachPrepError(
                .requestInvalid, "Name what to pause by exactly one of \"all\": true, \"lane\" and \"host\".")
        }
    }

    /// From the columns of the database; nil for a row that a later version wrote.
    package init?(kind: String, name: String) {
        switch kind {
        case "all": self = .all
        case "lane":
            guard let lane = JobPriority(rawValue: name) else { return nil }
            self = .lane(lane)
        case "host": self = .host(name)
        default: return nil
        }
    }

    /// The jobs in words.
    package var words: String {
        switch self {
        case .all: "all jobs"
        case .lane, .host: "\(kind) \(name)"
        }
    }

    /// `all`, `lane` or `host`.
    package var kind: String {
        switch self {
        case .all: "all"
        case .lane: "lane"
        case .host: "host"
        }
    }

    /// The name of the lane or host; empty for all jobs.
    package var name: String {
        switch self {
        case .all: ""
        case .lane(let lane): lane.rawValue
        case .host(let host): host
        }
    }

    /// The host of a job as it is stored, in lowercase: a name, or an IPv6 address without brackets.
    ///
    /// - Throws: `request.invalid`.
    package static func hostName(_ text: String) throws -> String {
        let isAddress = text.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1
        let allowed = isAddress ? "0123456789abcdef:." : "0123456789abcdefghijklmnopqrstuvwxyz._-"
        let host = ForeignText(text).lowercased
        guard (1...Limits.hostNameBytesMax).contains(host.utf8.count), host.utf8.allSatisfy(allowed.utf8.contains)
        else {
            throw AttachPrepError(
                .requestInvalid,
                "\"\(MessageText.excerpt(text, bytesMax: 80))\" is not a host name such as cdn.example, without scheme "
                    + "and port.")
        }
        return host.string
    }
}

/// A pause in force.
public struct JobPause: Sendable, Hashable {
    public var target: PauseTarget
    public var since: Date
    /// The name of the caller's token; nil for a service without tokens and for the command on a data folder.
    public var caller: String?
    /// Why, in the words of whoever paused.
    public var reason: String?

    public init(target: PauseTarget, since: Date, caller: String? = nil, reason: String? = nil) {
        self.target = target
        self.since = since
        self.caller = caller
        self.reason = reason
    }
}

extension JobPause: Codable {
    private enum CodingKeys: String, CodingKey {
        case target, name, since, caller, reason
    }

    /// Decodes a response of the service.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let kind = try values.decode(String.self, forKey: .target)
        let name = try values.decode(String.self, forKey: .name)
        guard let target = PauseTarget(kind: kind, name: name) else {
            throw DecodingError.dataCorruptedError(forKey: .target, in: values, debugDescription: "an unknown target")
        }
        self.init(
            target: target, since: try values.time(forKey: .since) ?? .distantPast,
            caller: try values.decodeIfPresent(String.self, forKey: .caller),
            reason: try values.decodeIfPresent(String.self, forKey: .reason))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(target.kind, forKey: .target)
        try values.encode(target.name, forKey: .name)
        try values.encode(Timestamp.text(since), forKey: .since)
        try values.encode(caller, forKey: .caller)
        try values.encode(reason, forKey: .reason)
    }
}

extension AttachPrepError {
    package static let tooManyPauses = AttachPrepError(
        .requestConflict,
        "\(Limits.pausesMax) pauses are in force, the most that are kept; end one of them, or pause a whole lane.")
}

extension Limits {
    /// Pauses in force: each claim of jobs reads all of them.
    package static let pausesMax = 100
    /// Bytes of a host name (RFC 1035).
    package static let hostNameBytesMax = 253
    /// Characters of the reason of a pause: a sentence.
    package static let pauseReasonCharactersMax = 200
}
