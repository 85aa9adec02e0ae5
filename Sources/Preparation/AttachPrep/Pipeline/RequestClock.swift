import MediaEngine
import SafeArithmetic

/// The clock of one request: its start and its deadline, both moved by waiting times.
///
/// The budget runs only while the request is worked on, not while it waits for a media slot.
struct RequestClock: Sendable {
    private(set) var start: ContinuousClock.Instant
    private(set) var deadline: ContinuousClock.Instant
    /// Milliseconds spent waiting for slots.
    private(set) var queueMilliseconds = 0.0

    init(budgetSeconds: Double) {
        start = .now
        deadline = start + .seconds(clamping: budgetSeconds)
    }

    /// Moves start and deadline by the time from an instant to now, in which the request waited for a slot.
    mutating func waited(since instant: ContinuousClock.Instant) {
        let wait = instant.duration(to: .now)
        start += wait
        deadline += wait
        queueMilliseconds += wait.milliseconds
    }

    /// Milliseconds of work so far.
    var milliseconds: Double { start.duration(to: .now).milliseconds }
}

/// The result of work in a slot.
struct SlotResult<Result: Sendable>: Sendable {
    let result: Swift.Result<Result, any Error>
    /// The request's clock after the wait.
    let clock: RequestClock
    /// Duration of the work without the wait.
    let milliseconds: Double

    fileprivate static func of(
        _ engine: any MediaEngine, clock: RequestClock,
        _ work: @Sendable (any MediaEngine, RequestClock) async throws -> Result
    ) async -> SlotResult {
        let began = ContinuousClock.now
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await work(engine, clock)) } catch { result = .failure(error) }
        return SlotResult(result: result, clock: clock, milliseconds: began.duration(to: .now).milliseconds)
    }
}

extension MediaEngine {
    /// Waits for a slot and works there, with a clock that excludes the wait.
    ///
    /// - Parameter kind: The kind of slot; nil for work that needs none.
    /// - Throws: `cancelled` when the task is cancelled while it waits; errors of the work are in the result.
    func withSlot<Result: Sendable>(
        _ kind: MediaWorkKind?, clock: RequestClock,
        _ work: @escaping @Sendable (any MediaEngine, RequestClock) async throws -> Result
    ) async throws -> SlotResult<Result> {
        guard let kind else { return await SlotResult.of(self, clock: clock, work) }
        let waitStart = ContinuousClock.now
        return try await withSlot(kind) { slot in
            var clock = clock
            clock.waited(since: waitStart)
            return await SlotResult.of(slot, clock: clock, work)
        }
    }
}
