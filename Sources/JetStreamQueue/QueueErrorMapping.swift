import AttachPrepJobs
import AttachPrepModel
package import Logging
import NATS
import RichPush
import SQLiteQueue
import Synchronization

enum QueueErrorMapping {
    static func mapError<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch {
            throw self.error(error)
        }
    }

    static func error(_ error: any Error) -> any Error {
        switch error {
        case let natsError as NATSError:
            AttachPrepError(
                code(natsError), sentence(natsError), detail: "\(natsError)",
                isRetryable: isTransient(natsError) ? nil : false)
        case let mismatch as StreamMismatchError:
            AttachPrepError(
                .queueUnavailable,
                "On the NATS servers, \(mismatch); it was created by another program or version: remove it, or choose "
                    + "another queue prefix.", detail: nil, isRetryable: false)
        default: error
        }
    }

    private static func code(_ natsError: NATSError) -> ErrorCode {
        if case .tooLarge = natsError { return .requestTooLarge }
        return .queueUnavailable
    }

    /// Whether the error may go away without an operator.
    private static func isTransient(_ natsError: NATSError) -> Bool {
        switch natsError {
        case .serverTooOld: false
        // A single server stays single; other servers of a cluster may still be starting.
        case .tooFewServers(_, let number, _, _): number != NATSError.APIErrorCode.replicasNeedCluster
        default: natsError.reason == nil || natsError.reason == .network
        }
    }

    /// The error message, without texts of the library.
    static func sentence(_ natsError: NATSError) -> String {
        switch natsError {
        case .library: sentence(natsError.reason ?? .network)
        case .disconnected: "The connection to the NATS servers is lost; try again."
        case .timedOut: "The NATS servers did not answer in time; try again."
        case .noResponders:
            "JetStream does not answer: it is disabled, has no leader, or is not available to this account."
        case .apiError(let code, let errorCode, _, let operation):
            sentence(errorCode)
                ?? "The NATS servers refused \(action(operation)) "
                + "(error \(errorCode > 0 ? errorCode : code)); see the log."
        case .tooFewServers(let replicas, let errorCode, _, _):
            "\(replicas) replicas need \(replicas) NATS servers with JetStream, and "
                + (errorCode == NATSError.APIErrorCode.replicasNeedCluster
                    ? "there is only this one" : "the cluster has fewer now")
                + "; start more of them, or set ATTACHPREP_QUEUE_REPLICAS to 1."
        case .serverTooOld(let version, let least):
            "The NATS server is nats-server \(version), and \(least) or newer is required: with older ones, copies of "
                + "the queue can diverge, so that jobs are stuck or lost. Update it, or accept "
                + "the risk with ATTACHPREP_QUEUE_ALLOW_DIVERGING_SERVER."
        case .unreadable: "The NATS servers sent an invalid answer; see the log."
        case .tooLarge(let bytes, let limit):
            "The job has \(bytes) bytes; the NATS servers accept at most \(limit)."
        }
    }

    /// The message for JetStream errors with a known remedy; nil for others.
    private static func sentence(_ errorCode: Int) -> String? {
        switch errorCode {
        case 10_002, 10_023, 10_028, 10_047:
            "The NATS servers have no free storage (error \(errorCode)); free some, or raise the limits of JetStream "
                + "or of this account."
        case 10_026, 10_027:
            "The account has reached its limit of NATS streams or consumers (error \(errorCode)); raise the limit."
        case 10_039, 10_076:
            "JetStream is disabled on the NATS servers or for this account (error \(errorCode)); enable it."
        default: nil
        }
    }

    /// Describes an operation of the JetStream API, whose last part is the name of a stream.
    private static func action(_ operation: String) -> String {
        let parts = operation.split(separator: ".").map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("STREAM", "CREATE"): return "to create the stream \(parts.last ?? "")"
        case ("STREAM", "INFO"): return "to describe the stream \(parts.last ?? "")"
        case ("STREAM", "PURGE"): return "to empty the stream \(parts.last ?? "")"
        case ("STREAM", "MSG"): return "to read or remove a message of the stream \(parts.last ?? "")"
        case ("CONSUMER", "MSG"): return "to deliver messages"
        case ("CONSUMER", _): return "to create or describe a consumer"
        default: return "to store a message"
        }
    }

    private static func sentence(_ reason: NATSError.Reason) -> String {
        switch reason {
        case .identity:
            "The NATS servers rejected the credentials; check the queue's user, token, nkey or credentials file."
        case .security:
            "TLS with the NATS servers failed; check the queue's certificates, and tls:// or nats:// in its addresses."
        case .setting: "Invalid settings for the connection to the NATS servers; check the queue's addresses and files."
        case .network: "The NATS servers cannot be reached; check their addresses and that they run."
        }
    }
}

/// Logs why the NATS servers rejected a request, with their own text: once per reason, and again every 5 min while it
/// lasts.
///
/// Error messages for callers do not contain that text; "see the log" in them refers to these lines.
package final class NATSErrorLog: Sendable {
    private let logger: Logger
    private let written = Mutex<[String: ContinuousClock.Instant]>([:])

    /// The interval at which a lasting reason is logged again, so that it is found near the end of the log.
    private static let pause = Duration.seconds(300)
    /// The maximum number of remembered reasons. Real servers have fewer; a hostile one could send any number.
    private static let reasonsMax = 64

    package init(_ logger: Logger) {
        self.logger = logger
    }

    /// Logs an error, unless its reason was logged in the last 5 min.
    ///
    /// - Parameter server: the address of the connected server; nil when unknown.
    func record(_ error: any Error, from server: String?) {
        guard let natsError = error as? NATSError, natsError.isExplainedInLog, isDue(Self.reason(natsError), at: .now)
        else {
            return
        }
        logger.error(
            "NATS servers rejected a request", metadata: ["error": "\(natsError)", "server": "\(server ?? "unknown")"])
    }

    /// Logs that the servers denied a request to the user of this process, as often as other errors.
    ///
    /// - Parameter text: the servers' text, which names the subject.
    func record(denied text: String) {
        guard isDue(text.split(separator: ".").prefix(4).joined(separator: "."), at: .now) else { return }
        logger.error("NATS servers deny a request to this user", metadata: ["error": "\(text)"])
    }

    private func isDue(_ reason: String, at now: ContinuousClock.Instant) -> Bool {
        written.withLock { written in
            if let last = written[reason], now - last < Self.pause { return false }
            if written.count >= Self.reasonsMax { written = [:] }
            written[reason] = now
            return true
        }
    }

    /// The reason without job IDs, which are in the last parts of operations and subjects.
    private static func reason(_ natsError: NATSError) -> String {
        switch natsError {
        case .apiError(let code, let errorCode, _, let operation):
            "\(code) \(errorCode) \(operation.split(separator: ".").prefix(3).joined(separator: "."))"
        case .unreadable(let subject, _): subject.split(separator: ".").prefix(3).joined(separator: ".")
        default: "\(natsError)"
        }
    }
}

extension NATSError {
    /// Whether the log has more information than the error message.
    fileprivate var isExplainedInLog: Bool {
        switch self {
        case .apiError, .tooFewServers, .unreadable: true
        default: false
        }
    }
}

extension NATSJobQueue {
    /// Runs work with the servers, and maps and logs its errors.
    func mapError<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch {
            throw mapError(error)
        }
    }

    func mapError(_ error: any Error) -> any Error {
        errorLog.record(error, from: connection.serverAddress)
        return QueueErrorMapping.error(error)
    }
}
