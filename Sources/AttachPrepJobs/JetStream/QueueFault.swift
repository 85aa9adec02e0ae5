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
    private static func passes(_ fault: NATSError) -> Bool {
        switch fault {
        case .serverTooOld: false
        // A server without a cluster stays so; others of a cluster may still be starting.
        case .tooFewServers(_, let number, _, _): number != NATSError.Number.replicasNeedCluster
        default: fault.reason == nil || fault.reason == .network
        }
    }

    /// A sentence without library text.
    static func sentence(_ fault: NATSError) -> String {
        switch fault {
        case .library: sentence(fault.reason ?? .network)
        case .disconnected: "The connection to the NATS servers is lost; try again."
        case .timedOut: "The NATS servers do not answer in time; try again."
        case .noResponders: "JetStream does not answer: it is off, has no leader, or is not for this account."
        case .refused(let code, let number, _, let operation):
            sentence(number)
                ?? "The NATS servers refused \(action(operation)) (error \(number > 0 ? number : code)); see the log."
        case .tooFewServers(let replicas, let number, _, _):
            "\(replicas) copies need \(replicas) NATS servers with JetStream, and "
                // Bounded: texts, not numbers.
                + (number == NATSError.Number.replicasNeedCluster ? "this one is alone" : "the cluster has fewer now")
                + "; start more of them, or set ATTACHPREP_QUEUE_REPLICAS to 1."
        case .serverTooOld(let version, let least):
            "The NATS server is nats-server \(version), and \(least) or newer is required: the copies that older ones "
                + "keep of the queue can diverge, and jobs are stuck then. Update it, or accept "
                + "that with ATTACHPREP_QUEUE_ALLOW_DIVERGING_SERVER."
        case .unreadable: "The NATS servers give an answer that cannot be read; see the log."
        case .tooLarge(let bytes, let limit):
            "The job takes \(bytes) bytes, over the \(limit) that the NATS servers take for a message."
        }
    }

    /// Of refusals that have a remedy of their own; nil for others.
    private static func sentence(_ number: Int) -> String? {
        switch number {
        case 10_002, 10_023, 10_028, 10_047:
            "The NATS servers have no room for it (error \(number)); free storage, or raise the limits of JetStream or "
                + "of this account."
        case 10_026, 10_027:
            "The NATS servers allow this account no more streams or consumers (error \(number)); raise its limits."
        case 10_039, 10_076: "JetStream is off on the NATS servers, or for this account (error \(number)); turn it on."
        default: nil
        }
    }

    /// An operation of the API, as a person says it: its names are those of streams.
    private static func action(_ operation: String) -> String {
        let parts = operation.split(separator: ".").map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("STREAM", "CREATE"): return "to create the stream \(parts.last ?? "")"
        case ("STREAM", "INFO"): return "to describe the stream \(parts.last ?? "")"
        case ("STREAM", "PURGE"): return "to empty the stream \(parts.last ?? "")"
        case ("STREAM", "MSG"): return "to read or remove a message of the stream \(parts.last ?? "")"
        case ("CONSUMER", "MSG"): return "to deliver messages"
        case ("CONSUMER", _): return "to create or describe a consumer"
        default: return "to keep a message"
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
