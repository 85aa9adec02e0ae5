/// Which frames of an animation are written, and for how many hundredths of a second each is shown.
///
/// Times are rounded, not delays: what one frame loses the next one gets, and the whole takes as long as it did.
package struct FrameTiming: Sendable, Hashable {
    /// Shorter ones are shown for 100 ms by browsers and iOS, so frames wait for each other, and are left out where
    /// that takes too long.
    package static let hundredthsMin = 2
    private static let hundredthsMax = 0xFFFF
    /// Milliseconds that a frame may be shown late because those before it are too short.
    private static let latenessMax = 20

    /// One frame that is written.
    package struct Entry: Sendable, Hashable {
        /// Its number in the source.
        package let frame: Int
        package let hundredths: Int

        package init(frame: Int, hundredths: Int) {
            self.frame = frame
            self.hundredths = hundredths
        }
    }

    package private(set) var entries: [Entry] = []

    /// - Parameters:
    ///   - delays: Milliseconds, as devices show them.
    ///   - rate: Which share of the frames is kept.
    package init(delays: [Int], rate: FrameRateShare) {
        // Bounded throughout: no format knows longer delays than 2^26 ms, or `durationSecondsMax`, and there are at
        // most `animationFramesMax`.
        var starts: [(frame: Int, time: Int)] = []
        var milliseconds = 0
        for (frame, delay) in delays.enumerated() {
            let due = milliseconds
            milliseconds += delay
            guard rate.keeps(frame) else { continue }
            let time = max((due + 5) / 10, (starts.last?.time ?? -Self.hundredthsMin) + Self.hundredthsMin)
            if time * 10 - due < Self.latenessMax { starts.append((frame, time)) }
        }
        let end = (milliseconds + 5) / 10
        for (index, start) in starts.enumerated() {
            let next = index + 1 < starts.count ? starts[index + 1].time : max(end, start.time + Self.hundredthsMin)
            entries.append(Entry(frame: start.frame, hundredths: min(next - start.time, Self.hundredthsMax)))
        }
    }

    /// Where the written animation shows a frame of the source: the last one that is not later.
    package func position(of frame: Int) -> Int {
        // Bounded: a list.
        max(0, (entries.firstIndex { $0.frame > frame } ?? entries.count) - 1)
    }

    /// Seconds of one play.
    package var duration: Double { entries.reduce(0.0) { $0 + Double($1.hundredths) / 100 } }
}

/// So many of so many frames, spread evenly.
package struct FrameRateShare: Sendable, Hashable {
    package let kept: Int
    package let of: Int

    package static let all = FrameRateShare(kept: 1, of: 1)

    package init(kept: Int, of total: Int) {
        precondition(kept > 0 && kept <= total, "a share is more than none and at most all")
        self.kept = kept
        of = total
    }

    // Bounded: numbers of frames, at most `animationFramesMax`, and `init` has looked at the divisor.
    package func keeps(_ frame: Int) -> Bool { frame * kept % of < kept }

    var value: Double { Double(kept) / Double(of) }
}
