package import Logging
import NATS
import Synchronization

/// Says in the log why the NATS servers refused something, in their own words: once for each reason, and again when it
/// is still so after a while.
///
/// Callers get a sentence without those words; where it says "see the log", this is what they find.
package final class RefusalLog: Sendable {
    private let logger: Logger
    private let written = Mutex<[String: ContinuousClock.Instant]>([:])

    /// Whoever looks at the log finds a reason that lasts on its last pages.
    private static let pause = Duration.seconds(300)
    /// More than there are operations and reasons; a hostile server could name any number.
    private static let reasonsMax = 64

    package init(_ logger: Logger) {
        self.logger = logger
    }

    /// - Parameter server: the one that the connection is to; nil when it is not known.
    func note(_ error: any Error, from server: String?) {
        guard let fault = error as? NATSError, fault.isExplainedInLog, isDue(Self.reason(fault), at: .now) else {
            return
        }
        logger.error(
            "the NATS servers refused", metadata: ["error": "\(fault)", "server": "\(server ?? "unknown")"])
    }

    private func isDue(_ reason: String, at now: ContinuousClock.Instant) -> Bool {
        written.withLock { written in
            // Bounded: instants of this process.
            if let last = written[reason], now - last < Self.pause { return false }
            if written.count >= Self.reasonsMax { written = [:] }
            written[reason] = now
            return true
        }
    }

    /// The same for all jobs: their names are in the last parts of operations and subjects.
    private static func reason(_ fault: NATSError) -> String {
        switch fault {
        case .refused(let code, let number, _, let operation):
            "\(code) \(number) \(operation.split(separator: ".").prefix(3).joined(separator: "."))"
        case .unreadable(let subject, _): subject.split(separator: ".").prefix(3).joined(separator: ".")
        default: "\(fault)"
        }
    }
}

extension NATSError {
    /// Whether there is more to say of it than its sentence does.
    fileprivate var isExplainedInLog: Bool {
        switch self {
        case .refused, .tooFewServers, .unreadable: true
        default: false
        }
    }
}

extension JetStreamQueue {
    /// Does work with the servers; what they say when it fails becomes a sentence, and goes to the log.
    func named<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch {
            throw named(error)
        }
    }

    func named(_ error: any Error) -> any Error {
        refusals.note(error, from: connection.serverAddress)
        return QueueFault.error(error)
    }
}
