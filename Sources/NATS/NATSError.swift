internal import CNATS

/// The error of a call to the NATS servers. Its description contains texts of the library and the servers and is meant
/// for the log.
package enum NATSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client library returned an error: its status code, the attempted operation, and the status text.
    case library(code: UInt32, operation: String, text: String)
    /// There is no connection, or it was lost before the answer: the request may have been carried out.
    case disconnected
    /// The answer did not arrive in time: the request may have been carried out.
    case timedOut(subject: String)
    /// The subject has no subscriber: JetStream is disabled, has no leader now, or this account may not use it.
    case noResponders(subject: String)
    /// The servers rejected a request: an HTTP-like status code, the JetStream error code and text, and the operation
    /// of the API or the subject of the message.
    case apiError(code: Int, errorCode: Int, text: String, operation: String)
    /// The cluster has fewer servers than the requested number of replicas; with the JetStream error code and text.
    case tooFewServers(replicas: Int, errorCode: Int, text: String, operation: String)
    /// The server's version is below the minimum.
    case serverTooOld(NATSServerVersion, least: NATSServerVersion)
    /// An answer or a sequence of messages that cannot be interpreted.
    case unreadable(subject: String, text: String)
    /// The message is longer than the servers accept.
    case tooLarge(bytes: Int, limit: Int)

    package var description: String {
        switch self {
        case .library(let code, let operation, let text): "nats \(code): \(operation): \(text)"
        case .disconnected: "nats: not connected"
        case .timedOut(let subject): "nats: timed out waiting for an answer from \(subject)"
        case .noResponders(let subject): "nats: no responders on \(subject)"
        case .apiError(let code, let errorCode, let text, let operation):
            "\(operation): jetstream error \(code), \(errorCode): \(text)"
        case .tooFewServers(let replicas, let errorCode, let text, let operation):
            "\(operation) with \(replicas) replicas: jetstream error \(errorCode): \(text)"
        case .serverTooOld(let version, let least): "nats-server \(version) is below the minimum \(least)"
        case .unreadable(let subject, let text): "nats: invalid answer from \(subject): \(text)"
        case .tooLarge(let bytes, let limit):
            "nats: a message of \(bytes) bytes exceeds the servers' limit of \(limit) bytes"
        }
    }
}

extension NATSError {
    /// The cause of an error of the client library.
    package enum Reason: Sendable, Hashable {
        /// The servers rejected the credentials.
        case identity
        /// A certificate was rejected, or only one side requires TLS.
        case security
        /// An invalid address, file or other setting.
        case setting
        /// No server could be reached.
        case network
    }

    /// The cause of a `library` error; nil for other cases.
    package var reason: Reason? {
        guard case .library(let code, _, _) = self else { return nil }
        switch natsStatus(rawValue: code) {
        case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED: return .identity
        case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED: return .security
        case NATS_ADDRESS_MISSING, NATS_INVALID_ARG, NATS_NOT_FOUND, NATS_ERR: return .setting
        default: return .network
        }
    }

    /// The JetStream error codes that are handled specially, from nats-server's `errors.json`.
    package enum APIErrorCode {
        package static let noSuitablePeers = 10_005
        /// JetStream is unavailable: the servers, or the stream, have no leader.
        package static let unavailable = 10_008
        package static let consumerNotFound = 10_014
        package static let messageNotFound = 10_037
        package static let messageNotRemoved = 10_057
        package static let streamNotFound = 10_059
        package static let wrongLastSequence = 10_071
        package static let replicasNeedCluster = 10_074
        /// As `wrongLastSequence`, while the earlier change is still being replicated; since nats-server 2.11.
        package static let wrongLastSequenceUnderWay = 10_164
    }

    /// Whether the servers rejected the request with this JetStream error code.
    package func hasErrorCode(_ errorCode: Int) -> Bool {
        guard case .apiError(_, errorCode, _, _) = self else { return false }
        return true
    }
}

extension NATSError {
    /// Whether no server was there to answer.
    package var isWithoutAnswer: Bool {
        switch self {
        case .timedOut, .noResponders: true
        default: hasErrorCode(APIErrorCode.unavailable)
        }
    }
}

extension natsStatus {
    func check(_ operation: String) throws(NATSError) {
        guard self != NATS_OK else { return }
        let text = unsafe String(cString: natsStatus_GetText(self))
        throw NATSError.library(code: rawValue, operation: operation, text: text)
    }
}
