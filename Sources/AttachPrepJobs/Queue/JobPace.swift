#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How many jobs ended in each minute of an hour, and how long they took.
public struct JobPace: Sendable, Hashable {
    /// A minute of it.
    public struct Minute: Sendable, Hashable {
        public var succeeded = 0
        /// Dead ones too.
        public var failed = 0
        /// From when a job was put in, or might begin at the earliest, to its end.
        public var latencies = LatencyCounts()

        public init() {}
    }

    public static let minutesCount = 60

    /// The hour's end, which is no more in it.
    public var until: Date
    /// The earliest first, always sixty.
    public var minutes: [Minute]

    public init(until: Date, minutes: [Minute] = Array(repeating: Minute(), count: minutesCount)) {
        precondition(minutes.count == Self.minutesCount, "an hour has sixty minutes")
        self.until = until
        self.minutes = minutes
    }

    /// Of the whole hour.
    public var latencies: LatencyCounts { minutes.reduce(into: LatencyCounts()) { $0.add($1.latencies) } }
}
