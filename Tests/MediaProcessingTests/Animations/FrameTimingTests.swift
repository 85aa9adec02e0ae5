import MediaProcessing
import Testing

@Suite struct FrameTimingTests {
    private func hundredths(_ delays: [Int], _ rate: FrameRateShare = .all) -> [Int] {
        FrameTiming(delays: delays, rate: rate).entries.map(\.hundredths)
    }

    @Test func `Rounding errors of delays are carried over to the next frame`() {
        #expect(hundredths([33, 33, 34, 33, 33, 34]) == [3, 4, 3, 3, 4, 3])
        #expect(hundredths([45, 45]) == [5, 4])
    }

    @Test func `Frames below the minimum delay are dropped without changing the duration`() {
        let timing = FrameTiming(delays: Array(repeating: 16, count: 60), rate: .all)
        #expect(timing.entries.allSatisfy { $0.hundredths >= FrameTiming.hundredthsMin })
        #expect(abs(timing.duration - 0.96) < 0.021)
        #expect(timing.entries.count >= 45)
    }

    @Test func `The time of a dropped frame is added to the frame before it`() {
        #expect(hundredths([100, 100, 100, 100], FrameRateShare(kept: 1, of: 2)) == [20, 20])
        #expect(
            FrameTiming(delays: Array(repeating: 100, count: 6), rate: FrameRateShare(kept: 2, of: 3)).entries
                .map(\.frame) == [0, 2, 3, 5])
    }

    @Test func `A source frame maps to the written frame that shows it`() {
        let timing = FrameTiming(delays: Array(repeating: 100, count: 6), rate: FrameRateShare(kept: 1, of: 2))
        #expect((0..<6).map(timing.position(of:)) == [0, 0, 1, 1, 2, 2])
    }

    @Test func `A single frame keeps its duration, up to the format's maximum`() {
        #expect(hundredths([700_000]) == [0xFFFF])
        #expect(hundredths([100]) == [10])
    }
}
