import AttachPrepModel
import Glibc
import MediaTypes
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
            let seconds = (now - bucket.filledAt) / .seconds(1)
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
            return (1 - bucket.level) / state.perSecond
        }
    }

    /// The seconds until a name's bucket is no longer empty; nil if it is not.
    func wait(_ name: String, at now: ContinuousClock.Instant = .now) -> Double? {
        state.withLock { state in
            guard state.perSecond > 0, let bucket = state.buckets[name] else { return nil }
            let level = state.filled(bucket, at: now).level
            return level > 0 ? nil : max(0.001, -level / state.perSecond)
        }
    }

    /// Takes an amount from a name's bucket, which may be more than is in it.
    func charge(_ amount: Double, to name: String, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard state.perSecond > 0 else { return }
            var bucket = state.buckets[name] ?? Bucket(level: state.capacity, filledAt: now)
            bucket = state.filled(bucket, at: now)
            bucket.level -= amount
            state.buckets[name] = bucket
            if state.buckets.count >= namesMax { removeFullBuckets(&state, at: now) }
        }
    }

    private func removeFullBuckets(_ state: inout State, at now: ContinuousClock.Instant) {
        state.buckets = state.buckets.filter { [state] in state.filled($0.value, at: now).level < state.capacity }
        if state.buckets.count >= namesMax { state.buckets.removeAll() }
    }
}

/// The processor time that requests may use before their sender is known: those that turn out to be invalid are charged
/// to their address and to all addresses together.
struct AnonymousWork: Sendable {
    private let byAddress: RateLimiter
    private let all: RateLimiter
    private static let everybody = "all"

    /// - Parameter perSecond: processor seconds per second and address; 0 disables the limit.
    init(perSecond: Double) {
        byAddress = RateLimiter(perSecond: perSecond, namesMax: Limits.countedAddressesMax)
        all = RateLimiter(perSecond: perSecond * Self.addressesMax, namesMax: 2)
    }

    /// Number of addresses that may use their whole share at the same time.
    private static let addressesMax = 5.0

    /// - Throws: A problem with status 429 when invalid requests have used up the time.
    func check(_ address: String) throws {
        guard let seconds = byAddress.wait(address) ?? all.wait(Self.everybody) else { return }
        throw Problem(.requestRateLimited, "Too many invalid requests from this address; retry later.")
            .retrying(after: seconds)
    }

    /// Does the work on a request of `bytes`, and charges its time if it throws or its result is invalid.
    func charging<Result>(
        _ address: String, bytes: Int, isValid: (Result) -> Bool = { _ in true }, _ work: () throws -> Result
    ) throws -> Result {
        let start = OwnThread.processorSeconds
        let result = Swift.Result { try work() }
        if (try? isValid(result.get())) != true {
            let seconds = OwnThread.processorSeconds - start + Double(bytes) / Self.bytesPerSecond
            byAddress.charge(seconds, to: address)
            all.charge(seconds, to: Self.everybody)
        }
        return try result.get()
    }

    /// What receiving a body costs, in bytes per processor second.
    private static let bytesPerSecond = 50_000_000.0
}

private enum OwnThread {
    /// The processor time that this thread has used. Linux: `clock_gettime(2)`, CLOCK_THREAD_CPUTIME_ID.
    static var processorSeconds: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }
}

extension Limits {
    /// Processor seconds per second that invalid anonymous requests of an address may use, with a burst of one second:
    /// a phone with an old token needs a millisecond.
    static let anonymousWorkPerSecondMax = 0.05
    /// Addresses whose wrong tokens are counted.
    static let countedAddressesMax = 10_000
}
