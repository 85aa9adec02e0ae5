import RichPush
import Synchronization

/// A token bucket per name: `perSecond` requests per second, with a burst of the same number.
final class RateLimiter: Sendable {
    private struct Bucket {
        var level: Double
        var filledAt: ContinuousClock.Instant
    }

    private struct State {
        var perSecond: Double
        var buckets: [String: Bucket] = [:]

        var capacity: Double { max(1, perSecond) }

        func filled(_ bucket: Bucket, at now: ContinuousClock.Instant) -> Bucket {
            // Bounded: instants of one clock.
            let seconds = (now - bucket.filledAt) / .seconds(1)
            // Bounded: floating point.
            return Bucket(level: min(capacity, bucket.level + seconds * perSecond), filledAt: now)
        }
    }

    private let namesMax: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - perSecond: requests per second; 0 disables the limit.
    ///   - namesMax: number of buckets kept; above it, full buckets are dropped, and all of them if none is full.
    init(perSecond: Double, namesMax: Int) {
        state = Mutex(State(perSecond: perSecond))
        self.namesMax = namesMax
    }

    /// Changes the rate; buckets keep their level.
    func change(perSecond: Double) { state.withLock { $0.perSecond = perSecond } }

    /// Takes one request from a name's bucket.
    ///
    /// - Returns: Nil if the request is allowed, else the seconds until the next one is.
    func consume(_ name: String, at now: ContinuousClock.Instant = .now) -> Double? {
        state.withLock { state in
            guard state.perSecond > 0 else { return nil }
            var bucket = state.buckets[name] ?? Bucket(level: state.capacity, filledAt: now)
            bucket = state.filled(bucket, at: now)
            defer { state.buckets[name] = bucket }
            if state.buckets.count >= namesMax { removeFullBuckets(&state, at: now) }
            guard bucket.level < 1 else {
                bucket.level -= 1
                return nil
            }
            // Bounded: floating point.
            return (1 - bucket.level) / state.perSecond
        }
    }

    private func removeFullBuckets(_ state: inout State, at now: ContinuousClock.Instant) {
        state.buckets = state.buckets.filter { [state] in state.filled($0.value, at: now).level < state.capacity }
        if state.buckets.count >= namesMax { state.buckets.removeAll() }
    }
}

extension Limits {
    /// Addresses whose wrong tokens are counted.
    static let countedAddressesMax = 10_000
}
