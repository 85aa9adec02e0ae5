import MediaEngine
import SafeArithmetic

/// The time of one request: its deadline, which waiting in line moves, and where it stands.
///
/// The budget runs while the request is worked on; the time it waits for a place among others is no work.
struct RequestClock: Sendable {
    private(set) var start: ContinuousClock.Instant
    private(set) var deadline: ContinuousClock.Instant
    /// Milliseconds in line.
    private(set) var queueMilliseconds = 0.0

    init(budgetSeconds: Double) {
        start = .now
        deadline = start + .seconds(clamping: budgetSeconds)
    }

    /// Takes out the time from an instant to now, in which the request waited for its turn.
    mutating func waited(since instant: ContinuousClock.Instant) {
        let wait = instant.duration(to: .now)
        // Bounded: time that has passed since this process began.
        start += wait
        deadline += wait  // Bounded: as above.
        queueMilliseconds += wait.milliseconds  // Bounded: a floating-point number.
    }

    /// Milliseconds of work so far.
    var milliseconds: Double { start.duration(to: .now).milliseconds }
}

/// What came of a turn at the engine.
struct TurnResult<Result: Sendable>: Sendable {
    let result: Swift.Result<Result, any Error>
    /// The request's clock after the wait.
    let clock: RequestClock
    /// How long the work took, the wait not counted.
    let milliseconds: Double

    fileprivate static func of(
        _ engine: any MediaEngine, _ clock: RequestClock,
        _ work: @Sendable (any MediaEngine, RequestClock) async throws -> Result
    ) async -> TurnResult {
        let began = ContinuousClock.now
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await work(engine, clock)) } catch { result = .failure(error) }
        return TurnResult(result: result, clock: clock, milliseconds: began.duration(to: .now).milliseconds)
    }
}

extension MediaEngine {
    /// Waits for a place and works there with a clock that does not count the wait.
    ///
    /// - Parameter turn: Nil for work that needs no place.
    /// - Throws: `cancelled` when the task is cancelled while it waits; what the work throws is in the result.
    func inTurn<Result: Sendable>(
        _ turn: MediaTurn?, _ clock: RequestClock,
        _ work: @escaping @Sendable (any MediaEngine, RequestClock) async throws -> Result
    ) async throws -> TurnResult<Result> {
        guard let turn else { return await TurnResult.of(self, clock, work) }
        let asked = ContinuousClock.now
        return try await inTurn(turn) { place in
            var clock = clock
            clock.waited(since: asked)
            return await TurnResult.of(place, clock, work)
        }
    }
}
