import AttachPrep
import AttachPrepModel
import FoundationEssentials
import Logging
import MediaTypes
import SafeArithmetic
import Synchronization

/// The breakers of a worker, one for each dependency, and the results that wait for one on this machine.
///
/// Every worker has its own: a bucket that one machine cannot reach does not stop the others.
final class DependencyBreakers: Sendable {
    private struct State {
        var breakers: [Dependency: CircuitBreaker] = [:]
        /// Number of successes of each dependency.
        var successes: [Dependency: Int] = [:]
        /// Number of results that wait for each, whose owners make the trials.
        var waiting: [Dependency: Int] = [:]
        /// Whether one more job may be claimed although the bucket seems to be away.
        var mayClaimAnother = false
        var isClosing = false
    }

    private let state = Mutex(State())
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// What is away.
    var outages: [DependencyOutage] {
        state.withLock { state in
            Dependency.allCases.compactMap { dependency in
                state.breakers[dependency]?.opening.map { DependencyOutage(dependency, reason: $0.reason) }
            }
        }
    }

    /// Number of results that are rendered and not published yet.
    var heldCount: Int { state.withLock { $0.waiting.values.reduce(0, +) } }

    func allowance() -> CircuitBreaker.Allowance {
        state.withLock { state in
            let now = ContinuousClock.now
            let away = state.breakers.filter { $0.value.opening != nil }
            if state.mayClaimAnother, away.keys.allSatisfy({ $0 == .bucket || $0 == .signingKey }), !away.isEmpty {
                state.mayClaimAnother = false
                return .another
            }
            return away.map { $1.allowance(at: now, hasProbe: $0.hasProbe) }.min() ?? .all
        }
    }

    /// Lets one more job be claimed: the bucket takes a probe and not a result, so that the result may be the problem.
    func allowAnotherClaim() { state.withLock { $0.mayClaimAnother = true } }

    // MARK: Outcomes

    /// - Returns: The time until the next trial.
    @discardableResult
    func recordFailure(_ dependency: Dependency, _ reason: String, isTrial: Bool = false) -> Duration {
        let now = ContinuousClock.now
        let (isChange, opening) = state.withLock { state in
            let isChange =
                state.breakers[dependency, default: CircuitBreaker()]
                .recordFailure(reason, at: now, isTrial: isTrial)
            return (isChange, state.breakers[dependency]?.opening)
        }
        if isChange {
            logger.error(
                "\(dependency.name) is away; jobs wait for it, and claiming is paused",
                metadata: ["dependency": "\(dependency.rawValue)", "reason": "\(reason)"])
        }
        return opening.map { now.duration(to: $0.retryAt) } ?? CircuitBreaker.pauseMin
    }

    func recordSuccess(_ dependencies: Dependency...) {
        for dependency in dependencies {
            let isChange = state.withLock { state in
                state.successes[dependency] = (state.successes[dependency] ?? 0).adding(clamping: 1)
                return state.breakers[dependency]?.opening != nil
                    && state.breakers[dependency, default: CircuitBreaker()].recordSuccess()
            }
            if isChange {
                logger.notice(
                    "\(dependency.name) is back; claiming resumes",
                    metadata: ["dependency": "\(dependency.rawValue)"])
            }
        }
    }

    /// Number of times that a dependency has worked.
    func successes(of dependency: Dependency) -> Int { state.withLock { $0.successes[dependency] ?? 0 } }

    // MARK: Trials

    /// Begins a trial of a dependency with a probe, if one is due that no waiting result makes.
    func beginProbe() -> Dependency? {
        state.withLock { state in
            let now = ContinuousClock.now
            return Dependency.allCases.first { dependency in
                guard dependency.hasProbe, state.waiting[dependency] ?? 0 == 0 else { return false }
                return state.breakers[dependency]?.opening != nil
                    && state.breakers[dependency, default: CircuitBreaker()].beginTrial(at: now)
            }
        }
    }

    /// When a waiting result may go on.
    enum Turn: Sendable, Hashable {
        /// The dependency is back.
        case back
        /// It is still away, and this result is its trial.
        case trial
        /// The wait has ended before: its time limit, or the worker shuts down.
        case over
    }

    /// Interval at which waiting results look whether they may go on; there are as many as a worker processes jobs.
    private static let lookInterval = Duration.milliseconds(200)

    /// Waits until a dependency is back, or until it is this caller's turn to try it.
    ///
    /// - Throws: `CancellationError` when its task is cancelled.
    func wait(for dependency: Dependency, until end: Date) async throws -> Turn {
        state.withLock { $0.waiting[dependency, default: 0] += 1 }
        defer { state.withLock { $0.waiting[dependency, default: 0] -= 1 } }
        while true {
            let turn = state.withLock { state -> Turn? in
                if state.isClosing || end <= .now { return .over }
                guard state.breakers[dependency]?.opening != nil else { return .back }
                let isTrial = state.breakers[dependency, default: CircuitBreaker()].beginTrial(at: .now)
                return isTrial ? .trial : nil
            }
            if let turn { return turn }
            try await ContinuousClock().sleep(for: Self.lookInterval)
        }
    }

    /// Ends all waits, because the worker shuts down.
    func close() { state.withLock { $0.isClosing = true } }
}
