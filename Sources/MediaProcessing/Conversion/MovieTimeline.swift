import RichPush
import SafeArithmetic

/// The movie's own timeline without the stretches in which nothing is shown or heard.
///
/// Recorders that were paused and writers that lie leave holes of minutes or hours; a player would stand still there.
struct MovieTimeline: Sendable, Hashable {
    struct Hole: Sendable, Hashable {
        let start: Double
        let length: Double
    }

    let holes: [Hole]

    /// Seconds in the new timeline.
    // Bounded throughout: floating point.
    func output(_ seconds: Double) -> Double { seconds - shift(at: seconds) }

    /// Seconds that a time comes earlier.
    // Bounded throughout: floating point.
    func shift(at seconds: Double) -> Double {
        holes.reduce(0) { seconds >= $1.start + $1.length - MovieCoverage.slotSeconds ? $0 + $1.length : $0 }
    }
}

/// Where in a timeline something is shown or heard, in slots of half a second.
struct MovieCoverage {
    static let slotSeconds = 0.5
    /// A sample that claims to last longer is not believed.
    private static let sampleSecondsMax = 30.0

    private var slots: Set<Int> = []
    private var latest = Int.min

    mutating func take(start: Double, duration: Double) {
        guard start.isFinite, abs(start) < 1e9 else { return }
        // Bounded: floating point.
        let end = start + min(Self.sampleSecondsMax, max(0, duration))
        let first = Self.slot(start)
        for slot in first...max(first, Self.slot(end)) where slot != latest {
            slots.insert(slot)
            latest = slot
        }
    }

    mutating func join(_ other: MovieCoverage) { slots.formUnion(other.slots) }

    // Bounded throughout: floating point.
    private static func slot(_ seconds: Double) -> Int {
        Int(clamping: (seconds / slotSeconds).rounded(.down))
    }

    /// The timeline with all holes closed that are longer than `Limits.movieGapSecondsMax`.
    // Bounded throughout: slots of times within 30 years, as `take` has looked.
    var timeline: MovieTimeline {
        var holes: [MovieTimeline.Hole] = []
        var covered = -1
        for slot in slots.sorted() where slot > covered {
            let length = Double(slot - covered - 1) * Self.slotSeconds
            if length > Limits.movieGapSecondsMax {
                holes.append(.init(start: Double(covered + 1) * Self.slotSeconds, length: length))
            }
            covered = slot
        }
        return MovieTimeline(holes: holes)
    }
}
