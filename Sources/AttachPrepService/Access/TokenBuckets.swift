import Synchronization

/// So many requests a second for each name, and as many at once.
final class TokenBuckets: Sendable {
    private struct Bucket {
        var level: Double
        var filledAt: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let namesMax: Int
    private let buckets = Mutex<[String: Bucket]>([:])

    /// - Parameters:
    ///   - perSecond: 0 does not limit.
    ///   - namesMax: how many are remembered; when there are more, those that have done nothing for long are forgotten.
    init(perSecond: Double, namesMax: Int) {
        self.perSecond = perSecond
        self.namesMax = namesMax
    }

    /// Takes one; nil when it was there, else the seconds until there is one.
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
        // Bounded: times of one clock of ours.
        let seconds = (now - bucket.filledAt) / .seconds(1)
        // Bounded: floating point, which does not trap.
        return Bucket(level: min(capacity, bucket.level + seconds * perSecond), filledAt: now)
    }

    private func forget(_ buckets: inout [String: Bucket], at now: ContinuousClock.Instant) {
        buckets = buckets.filter { filled($0.value, at: now).level < capacity }
        if buckets.count >= namesMax { buckets.removeAll() }
    }
}
