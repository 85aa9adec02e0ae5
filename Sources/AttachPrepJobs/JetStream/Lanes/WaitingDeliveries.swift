import AttachPrep
import Synchronization

/// Messages that were put off: the servers give them again to anybody when their time has come, and until then this
/// machine remembers them, so that it need not wait for that when their host, their key or the clock lets them go.
///
/// What is forgotten is not lost: it comes again.
final class WaitingDeliveries: Sendable {
    /// What a job waits for.
    enum Until: Sendable, Hashable {
        /// Nothing: it may be given at once.
        case now
        /// Its host has room, and nobody works on its key.
        case room(host: String?, key: String)
        /// The wall's clock, in milliseconds since 1970.
        case wall(Int64)
        /// The steady clock, in milliseconds.
        case steady(Int64)
        /// Nothing else is in flight on this machine: it runs alone.
        case alone
    }

    private struct Entry {
        var delivery: LaneDelivery
        var until: Until
        /// The servers give it to anybody from then on.
        var forgetAt: ContinuousClock.Instant
    }

    /// Remembered by one machine: a look at them takes a millisecond.
    static let countMax = 2_000

    /// The servers give it again a little later than they were told to; between the two it is not to be nowhere.
    private static let slack = Duration.milliseconds(250)

    private let entries = Mutex<[JobID: Entry]>([:])

    func add(_ delivery: LaneDelivery, until: Until, for time: Duration) {
        entries.withLock { entries in
            guard entries.count < Self.countMax || entries[delivery.job] != nil else { return }
            var delivery = delivery
            delivery.isRemembered = true
            // Bounded: spans of our own settings and limits.
            entries[delivery.job] = Entry(delivery: delivery, until: until, forgetAt: .now + time + Self.slack)
        }
    }

    func forget(_ job: JobID) {
        entries.withLock { _ = $0.removeValue(forKey: job) }
    }

    /// Whether a job waits to run alone.
    var hasAlone: Bool { entries.withLock { $0.values.contains(where: Self.isAlone) } }

    /// The first of those that run alone, which is forgotten.
    func nextAlone() -> LaneDelivery? {
        entries.withLock { entries in
            let first = entries.values.filter(Self.isAlone).min { $0.delivery.number < $1.delivery.number }
            guard let first else { return nil }
            entries[first.delivery.job] = nil
            return first.delivery
        }
    }

    private static func isAlone(_ entry: Entry) -> Bool { entry.until == .alone && entry.forgetAt > .now }

    /// What may be given now, in the order of the stream, of each lane. Forgets what the servers give again.
    ///
    /// - Parameter hasRoom: whether a job of that host and key could run.
    func ready(
        at moment: StoreMoment, hasRoom: (String?, String) -> Bool
    ) -> [JobPriority: [LaneDelivery]] {
        let ready = entries.withLock { entries -> [LaneDelivery] in
            let now = ContinuousClock.now
            var ready: [LaneDelivery] = []
            for (job, entry) in entries {
                if entry.forgetAt <= now {
                    entries[job] = nil
                } else if Self.isOver(entry.until, moment, hasRoom) {
                    var delivery = entry.delivery
                    if case .steady = entry.until { delivery.hasWaited = true }
                    ready.append(delivery)
                }
            }
            return ready
        }
        return Dictionary(grouping: ready.sorted { $0.number < $1.number }, by: \.lane)
    }

    private static func isOver(_ until: Until, _ moment: StoreMoment, _ hasRoom: (String?, String) -> Bool) -> Bool {
        switch until {
        case .now: true
        case .room(let host, let key): hasRoom(host, key)
        case .wall(let date): date <= moment.wall
        case .steady(let date): date <= moment.steady
        // Taken by `nextAlone`.
        case .alone: false
        }
    }
}
