import Foundation
import MediaProcessing
import Testing

@Suite struct AnimationLadderTests {
    /// An animation of so many bytes that gets smaller as animations do.
    private static func bytes(_ full: Double, _ step: AnimationStep) -> Int {
        let exactness = exp(-step.tolerance / 12)
        let colors = log2(Double(step.colors)) / 8
        let rate = Double(step.rate.kept) / Double(step.rate.of)
        return Int(full * exactness * colors * rate * step.scale * step.scale)
    }

    private static func climb(_ full: Double, bytesMax: Int) -> (best: AnimationStep?, bytes: Int, tries: Int) {
        var ladder = AnimationLadder(bytesMax: bytesMax)
        var tries = 0
        while let step = ladder.step {
            tries += 1
            ladder.record(bytes: bytes(full, step))
        }
        return (ladder.best, ladder.best.map { bytes(full, $0) } ?? 0, tries)
    }

    @Test func `what fits gives nothing up`() {
        let (best, _, tries) = Self.climb(900_000, bytesMax: 1_000_000)
        #expect(best == AnimationStep())
        #expect(tries == 1)
    }

    @Test(arguments: [1.1, 2, 5, 8, 12, 20, 30, 50, 80, 200, 1000, 5000])
    func `a limit is met closely, in few tries`(times: Double) throws {
        let (best, bytes, tries) = Self.climb(1_000_000 * times, bytesMax: 1_000_000)
        #expect(best != nil)
        #expect((850_000...1_000_000).contains(bytes))
        #expect(tries <= 14)
    }

    @Test func `exactness goes first, then colors, then frames, then size`() throws {
        let soft = try #require(Self.climb(3_000_000, bytesMax: 1_000_000).best)
        #expect(soft.tolerance > 0 && soft.colors == 256 && soft.rate == .all && soft.scale == 1)
        let few = try #require(Self.climb(9_000_000, bytesMax: 1_000_000).best)
        #expect(few.colors < 256 && few.rate == .all && few.scale == 1)
        let slow = try #require(Self.climb(20_000_000, bytesMax: 1_000_000).best)
        #expect(slow.colors == 32 && slow.rate != .all && slow.scale == 1)
        let small = try #require(Self.climb(200_000_000, bytesMax: 1_000_000).best)
        #expect(small.scale < 1)
    }

    @Test func `what nothing makes small enough has no step`() {
        var ladder = AnimationLadder(bytesMax: 10)
        var tries = 0
        while ladder.step != nil, tries < 100 {
            tries += 1
            ladder.record(bytes: 1_000)
        }
        #expect(ladder.best == nil)
        #expect(tries < 100)
    }

    @Test func `frames that time has no room for are not asked for`() {
        let half = FrameRateShare(kept: 1, of: 2)
        #expect(AnimationLadder(bytesMax: 10, rate: half).step?.rate == half)
    }
}
