import LibAV
import SafeArithmetic

/// What one pass over a stream's packets found.
struct StreamScan {
    /// Where an edit list hides packets.
    enum Hiding: Sendable, Hashable {
        case none
        /// From that packet on to the end; what is hidden at the beginning does no harm.
        case tail(Int)
        case middle
    }

    private(set) var packets = 0
    /// Packets with something in them that are shown or heard.
    private(set) var shown = 0
    private(set) var bytes = 0
    /// Seconds of the movie's own timeline.
    private(set) var first: Double?
    private(set) var last: Double?
    private(set) var end: Double?
    private(set) var hiding = Hiding.none
    /// Ticks, in decoding order; kept for pictures alone.
    private(set) var presentations: [Int64] = []
    private(set) var decodings: [Int64] = []
    private(set) var isPresentationKnown = true
    /// Bytes of each packet that is shown with its time.
    private(set) var weights: [(time: Double, bytes: Int)] = []
    private var lastDuration = 0.0

    mutating func take(_ packet: Packet, presentation: Int64?, clock: FrameClock, timeBase: TimeBase, isPicture: Bool) {
        if packet.byteCount == 0 { return }
        bytes = bytes.adding(clamping: packet.byteCount)
        note(isHidden: packet.isDiscarded)
        packets += 1
        if presentation == nil { isPresentationKnown = false }
        if isPicture {
            presentations.append(presentation ?? 0)
            decodings.append(packet.decodingTimestamp ?? Int64.min)
        }
        let fallback = end ?? 0
        let time = (presentation ?? packet.decodingTimestamp).map(clock.movieTime) ?? fallback
        if packet.isDiscarded { return }
        shown += 1
        if isPicture { weights.append((time, packet.byteCount)) }
        let duration = timeBase.seconds(packet.duration)
        first = min(first ?? time, time)
        if time >= last ?? time {
            last = time
            lastDuration = duration
        }
        // Bounded: floating point.
        end = max(end ?? time, time + duration)
    }

    private mutating func note(isHidden: Bool) {
        switch hiding {
        case .none where isHidden && shown > 0: hiding = .tail(packets)
        case .tail where !isHidden: hiding = .middle
        default: break
        }
    }

    /// Seconds between two pictures on average.
    var interval: Double? {
        guard let first, let last, shown > 1, last > first else { return nil }
        // Bounded: floating point.
        return (last - first) / Double(shown - 1)
    }

    /// Seconds the last one is shown: its own word, unless that is missing or absurd.
    func lastDuration(otherwise usual: Double) -> Double {
        let average = interval ?? usual
        // Bounded: floating point.
        let isAbsurd = lastDuration > 30 && lastDuration > average * 20
        return lastDuration <= 0 || isAbsurd ? average : lastDuration
    }

    /// Decoding times that are never later than the presentation, and always grow: the container's where they are so,
    /// else made from the presentation times. Nil where those are not known or two are the same.
    var soundDecodingTimes: [Int64]? {
        guard isPresentationKnown, !presentations.isEmpty else { return nil }
        if areSound(decodings) { return decodings }
        let sorted = presentations.sorted()
        let delay = zip(sorted, presentations).map { $0.subtracting(clamping: $1) }.max() ?? 0
        let made = sorted.map { $0.subtracting(clamping: delay) }
        return areSound(made) ? made : nil
    }

    private func areSound(_ times: [Int64]) -> Bool {
        zip(times, presentations).allSatisfy { $0 != Int64.min && $0 <= $1 }
            && zip(times, times.dropFirst()).allSatisfy { $0 < $1 }
    }
}
