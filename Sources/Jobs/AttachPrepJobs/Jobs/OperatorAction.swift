import AttachPrep
import AttachPrepModel
public import FoundationEssentials
package import MediaTypes
import SafeArithmetic

/// What someone did to jobs or webhooks of a queue.
public struct OperatorAction: Sendable, Hashable {
    public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
        case pause, resume, retry, cancel, purge, priority, schedule, replay
    }

    /// Its position in the log; 0 before it is stored.
    public var number: Int64 = 0
    public var date: Date
    /// The name of the caller's token; nil for a service without tokens and for the command on a data folder.
    public var caller: String?
    public var kind: Kind
    /// What it was done to, such as `12 jobs: state=dead, host=cdn.example`.
    public var detail: String

    public init(_ kind: Kind, _ detail: String, by caller: String?, date: Date = .now) {
        self.date = date
        self.caller = caller
        self.kind = kind
        self.detail = MessageText.excerpt(detail, bytesMax: Limits.actionDetailBytesMax)
    }
}

/// The log of operators' actions, which is kept for `Limits.actionSecondsMax`.
public protocol ActionLog: Sendable {
    func record(_ action: OperatorAction) async throws

    /// Returns actions, the latest first.
    ///
    /// - Parameter number: only actions before this one.
    func actions(before number: Int64?, limit: Int) async throws -> [OperatorAction]
}

extension JobFilter {
    /// The conditions in words, for the log of actions.
    package var summary: String {
        let parts: [(String, String?)] = [
            ("state", states.map { $0.map(\.rawValue).sorted().joined(separator: ",") }), ("search", search),
            ("ids", ids.map { $0.count == 1 ? $0[0].text : "\($0.count)" }),
            ("error", errors.map { $0.map(\.rawValue).sorted().joined(separator: ",") }),
            ("createdBefore", createdBefore.map(Timestamp.text)), ("createdAfter", createdAfter.map(Timestamp.text)),
            ("callerID", callerID), ("batch", batch), ("idempotencyKey", idempotencyKey),
            ("tag", tags.isEmpty ? nil : tags.joined(separator: ",")), ("host", host),
        ]
        return parts.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: ", ")
    }
}

extension Limits {
    /// Actions are kept for a quarter, so that an incident can be reviewed.
    package static let actionSecondsMax = 90.0 * 24 * 3600
    /// Bytes of an action's detail: some filters.
    package static let actionDetailBytesMax = 1_000
}
