import RichPush
import Synchronization

/// A token bucket per name: `perSecond` requests per second, with a burst of the same number.
final class RateLimiter: Sendable {
    private struct Bucket {
        var level: Double
        var filledAt: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let namesMax: Int
    private let buckets = Mutex<[String: Bucket]>([:])

    /// - Parameters:
    ///   - perSecond: requests per second; 0 disables the limit.
    ///   - namesMax: number of buckets kept; above it, full buckets are dropped, and all of them if none is full.
    init(perSecond: Double, namesMax: Int) {
        self.perSecond = perSecond
        self.namesMax = namesMax
    }

    /// Takes one request from a name's bucket.
    ///
    /// - Returns: nil if the request is allowed, else the seconds until the next one is.
    func take(_ name: String, at now: ContinuousClock.Instant = .now) -> Double? {
        guard perSecond > 0 else { return nil }
        return buckets.withLock { buckets in
            var bucket = buckets[name] ?? Bucket(level: capacity, filledAt: now)
            bucket = filled(bucket, at: now)
            defer { buckets[name] = bucket }
            if buckets.count >= namesMax { forget(&buckets, at: now) }
            guard bucket.level < 1 else {
                bucket.level -= 1
                return nil
            }
            // Bounded: floating point, which does not trap.
            return (1 - bucket.level) / perSecond
        }
    }

    private var capacity: Double { max(1, perSecond) }

    private func filled(_ bucket: Bucket, at now: ContinuousClock.Instant) -> Bucket {
        // Bounded: instants of one clock.
        let seconds = (now - bucket.filledAt) / .seconds(1)
        // Bounded: floating point, which does not trap.
        return Bucket(level: min(capacity, bucket.level + seconds * perSecond), filledAt: now)
    }

    private func forget(_ buckets: inout [String: Bucket], at now: ContinuousClock.Instant) {
        buckets = buckets.filter { filled($0.value, at: now).level < capacity }
        if buckets.count >= namesMax { buckets.removeAll() }
    }
}

extension Limits {
    /// Addresses whose wrong tokens are counted.
    static let countedAddressesMax = 10_000
}
