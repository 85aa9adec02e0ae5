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
        case let fault as NATSError: AttachPrepError(code(fault), sentence(fault), detail: "\(fault)")
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

    /// A sentence without library text.
    private static func sentence(_ fault: NATSError) -> String {
        switch fault {
        case .library: "The NATS servers cannot be reached, or refuse us; see the log."
        case .disconnected: "The connection to the NATS servers is lost; try again."
        case .timedOut: "The NATS servers do not answer in time; try again."
        case .noResponders: "JetStream does not answer: it is off, has no leader, or is not for this account."
        case .refused: "The NATS servers refuse; see the log."
        case .unreadable: "The NATS servers give an answer that cannot be read; see the log."
        case .tooLarge(let bytes, let limit):
            "The job takes \(bytes) bytes, over the \(limit) that the NATS servers take for a message."
        }
    }
}
