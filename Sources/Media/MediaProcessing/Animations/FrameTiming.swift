/// Selects the frames of an animation that are written, and their delays in hundredths of a second.
///
/// Start times are rounded, not delays, so that rounding errors do not add up and the total duration is kept.
package struct FrameTiming: Sendable, Hashable {
    /// Minimum delay: browsers and iOS show shorter ones for 100 ms. Frames are delayed to keep it, and dropped when
    /// they would be too late.
    package static let hundredthsMin = 2
    private static let hundredthsMax = 0xFFFF
    /// Maximum lateness of a frame in milliseconds.
    private static let latenessMax = 20

    /// One frame that is written.
    package struct Entry: Sendable, Hashable {
        /// Frame number in the source.
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
    ///   - rate: The share of frames that is kept.
    package init(delays: [Int], rate: FrameRateShare) {
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

    /// The written frame that shows a source frame: the last one that is not later.
    package func position(of frame: Int) -> Int {
        max(0, (entries.firstIndex { $0.frame > frame } ?? entries.count) - 1)
    }

    /// Seconds of one play.
    package var duration: Double { entries.reduce(0.0) { $0 + Double($1.hundredths) / 100 } }
}

/// A share of frames, evenly distributed: `kept` of every `of`.
package struct FrameRateShare: Sendable, Hashable {
    package let kept: Int
    package let of: Int

    package static let all = FrameRateShare(kept: 1, of: 1)

    package init(kept: Int, of total: Int) {
        precondition(kept > 0 && kept <= total, "a share is more than none and at most all")
        self.kept = kept
        of = total
    }

    package func keeps(_ frame: Int) -> Bool { frame * kept % of < kept }

    var value: Double { Double(kept) / Double(of) }
}
