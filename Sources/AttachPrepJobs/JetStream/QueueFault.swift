import NATS
import RichPush

/// What the servers' refusal means to the caller.
enum QueueFault {
    /// Does work with the servers; what they say when it fails becomes a sentence.
    static func named<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch {
            throw self.error(error)
        }
    }

    static func error(_ error: any Error) -> any Error {
        switch error {
        case let fault as NATSError:
            AttachPrepError(
                code(fault), sentence(fault), detail: "\(fault)", isRetryable: passes(fault) ? nil : false)
        case let mismatch as StreamMismatch:
            AttachPrepError(
                .queueUnavailable,
                "The NATS servers have \(mismatch); it is not ours, or was made otherwise: remove it, or choose "
                    + "another prefix.", detail: nil, isRetryable: false)
        default: error
        }
    }

    private static func code(_ fault: NATSError) -> ErrorCode {
        if case .tooLarge = fault { return .requestTooLarge }
        return .queueUnavailable
    }

    /// Whether it may be over by itself.
    private static func passes(_ fault: NATSError) -> Bool { fault.reason == nil || fault.reason == .network }

    /// A sentence without library text.
    private static func sentence(_ fault: NATSError) -> String {
        switch fault {
        case .library: sentence(fault.reason ?? .network)
        case .disconnected: "The connection to the NATS servers is lost; try again."
        case .timedOut: "The NATS servers do not answer in time; try again."
        case .noResponders: "JetStream does not answer: it is off, has no leader, or is not for this account."
        case .refused: "The NATS servers refuse; see the log."
        case .unreadable: "The NATS servers give an answer that cannot be read; see the log."
        case .tooLarge(let bytes, let limit):
            "The job takes \(bytes) bytes, over the \(limit) that the NATS servers take for a message."
        }
    }

    private static func sentence(_ reason: NATSError.Reason) -> String {
        switch reason {
        case .identity: "The NATS servers do not take us in; check user, token, nkey or credentials of the queue."
        case .security:
            "The NATS servers and we do not agree on TLS; check the queue's certificates and tls:// or nats://."
        case .setting: "The connection to the NATS servers cannot be set up; check the queue's addresses and files."
        case .network: "The NATS servers cannot be reached; check their addresses and that they run."
        }
    }
}
