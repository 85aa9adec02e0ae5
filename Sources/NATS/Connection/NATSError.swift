internal import CNATS

/// Why a call to the NATS servers did not do what was wanted. Its texts are the library's and the servers': for the
/// log.
package enum NATSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client library refused: its code, what was being attempted, and its text.
    case library(code: UInt32, operation: String, text: String)
    /// There is no connection now, or it went before an answer came: what was asked for may have been done.
    case disconnected
    /// No answer came in time: what was asked for may have been done.
    case timedOut(subject: String)
    /// Nobody listens there: JetStream is off, has no leader now, or this account may not use it.
    case noResponders(subject: String)
    /// The servers said no: HTTP-like code, JetStream's own number, its text, and what was asked for: an operation of
    /// the API, or the subject of a message.
    case refused(code: Int, number: Int, text: String, operation: String)
    /// So many copies were asked for, and the servers cannot make as many: JetStream's own number, its text.
    case tooFewServers(replicas: Int, number: Int, text: String, operation: String)
    /// A server below the least version that is taken.
    case serverTooOld(NATSServerVersion, least: NATSServerVersion)
    /// An answer that is none.
    case unreadable(subject: String, text: String)
    /// A message is longer than the servers take.
    case tooLarge(bytes: Int, limit: Int)

    package var description: String {
        switch self {
        case .library(let code, let operation, let text): "nats \(code): \(operation): \(text)"
        case .disconnected: "nats: not connected"
        case .timedOut(let subject): "nats: no answer in time from \(subject)"
        case .noResponders(let subject): "nats: nobody answers at \(subject)"
        case .refused(let code, let number, let text, let operation):
            "\(operation): jetstream \(code), \(number): \(text)"
        case .tooFewServers(let replicas, let number, let text, let operation):
            "\(operation) with \(replicas) copies: jetstream \(number): \(text)"
        case .serverTooOld(let version, let least): "nats-server \(version), below \(least)"
        case .unreadable(let subject, let text): "nats: the answer of \(subject) cannot be read: \(text)"
        case .tooLarge(let bytes, let limit): "nats: a message of \(bytes) bytes, over the servers' \(limit)"
        }
    }
}

extension NATSError {
    /// What the library's own refusal is about.
    package enum Reason: Sendable, Hashable {
        /// The servers do not know us, or not with what we showed them.
        case identity
        /// Certificates do not fit, or one side wants TLS and the other does not.
        case security
        /// An address, a file or another setting that cannot be.
        case setting
        /// Nobody is there, or not now.
        case network
    }

    /// Nil for what is not the library's.
    package var reason: Reason? {
        guard case .library(let code, _, _) = self else { return nil }
        switch natsStatus(rawValue: code) {
        case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED: return .identity
        case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED: return .security
        case NATS_ADDRESS_MISSING, NATS_INVALID_ARG, NATS_NOT_FOUND, NATS_ERR: return .setting
        default: return .network
        }
    }

    /// JetStream's numbers that lead to something else than an error; see its server's `errors.json`.
    package enum Number {
        package static let noSuitablePeers = 10_005
        package static let consumerNotFound = 10_014
        package static let messageNotFound = 10_037
        package static let messageNotRemoved = 10_057
        package static let streamNotFound = 10_059
        package static let wrongLastSequence = 10_071
        package static let replicasNeedCluster = 10_074
        /// As `wrongLastSequence`, when the change that came first is still being made; since 2.11.
        package static let wrongLastSequenceUnderWay = 10_164
    }

    /// Whether what was asked for is not there.
    package func isRefusal(_ number: Int) -> Bool {
        guard case .refused(_, number, _, _) = self else { return false }
        return true
    }
}

extension natsStatus {
    /// Throws unless the call succeeded.
    func check(_ operation: String) throws(NATSError) {
        guard self != NATS_OK else { return }
        let text = unsafe String(cString: natsStatus_GetText(self))
        throw NATSError.library(code: rawValue, operation: operation, text: text)
    }
}
