import LibAV
import SafeArithmetic

/// When the packets of one stream are shown, in ticks of its time base.
struct StreamSpan: Sendable {
    /// A last sample this many times longer than the average is a writer's mistake, not a picture that stands.
    private static let absurdLastDuration = 20.0

    private(set) var packets = 0
    private(set) var first: Int64?
    private(set) var last: Int64?
    private(set) var end: Int64?
    private var lastDuration: Int64 = 0

    /// Takes a packet's time; one without any lasts from where the one before ended.
    mutating func take(time: Int64?, duration: Int64, isEmpty: Bool) {
        let time = time ?? end ?? 0
        let stop = time.adding(clamping: duration)
        if !isEmpty {
            packets += 1
            first = min(first ?? time, time)
            if time >= last ?? time {
                last = time
                lastDuration = duration
            }
        }
        end = max(end ?? stop, stop)
    }

    /// Seconds at which the stream ends, believing the samples: an absurd duration of the last one is replaced by the
    /// average, a missing one too.
    // Bounded throughout: floating point.
    func endSeconds(_ timeBase: TimeBase, frameRate: Double?) -> Double? {
        guard let first, let last, let end else { return nil }
        let average = packets > 1 ? (timeBase.seconds(last) - timeBase.seconds(first)) / Double(packets - 1) : 0
        let interval = average > 0 ? average : frameRate.map { 1 / $0 } ?? 0
        let duration = timeBase.seconds(lastDuration)
        let isAbsurd = interval > 0 && duration > 30 && duration > interval * Self.absurdLastDuration
        if lastDuration == 0 || isAbsurd { return timeBase.seconds(last) + interval }
        return timeBase.seconds(end)
    }
}
