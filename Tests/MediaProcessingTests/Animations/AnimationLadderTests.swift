import Foundation
import MediaProcessing
import Testing

@Suite struct AnimationLadderTests {
    /// The size of an animation of `full` bytes after a step, as a model of real ones.
    private static func bytes(_ full: Double, _ step: AnimationStep) -> Int {
        let exactness = exp(-step.tolerance / 12)
        let colors = log2(Double(step.colors)) / 8
        let rate = Double(step.rate.kept) / Double(step.rate.of)
        return Int(full * exactness * colors * rate * step.scale * step.scale)
    }

    private static func search(_ full: Double, bytesMax: Int) -> (best: AnimationStep?, bytes: Int, tries: Int) {
        var ladder = AnimationLadder(bytesMax: bytesMax)
        var tries = 0
        while let step = ladder.step {
            tries += 1
            ladder.record(bytes: bytes(full, step))
        }
        return (ladder.best, ladder.best.map { bytes(full, $0) } ?? 0, tries)
    }

    @Test func `An animation that fits is written without reduction`() {
        let (best, _, tries) = Self.search(900_000, bytesMax: 1_000_000)
        #expect(best == AnimationStep())
        #expect(tries == 1)
    }

    @Test(arguments: [1.1, 2, 5, 8, 12, 20, 30, 50, 80, 200, 1000, 5000])
    func `The result is within 15 percent of the limit after at most 14 tries`(times: Double) throws {
        let (best, bytes, tries) = Self.search(1_000_000 * times, bytesMax: 1_000_000)
        #expect(best != nil)
        #expect((850_000...1_000_000).contains(bytes))
        #expect(tries <= 14)
    }

    @Test func `Exactness is reduced first, then colors, then frame rate, then size`() throws {
        let soft = try #require(Self.search(3_000_000, bytesMax: 1_000_000).best)
        #expect(soft.tolerance > 0 && soft.colors == 256 && soft.rate == .all && soft.scale == 1)
        let few = try #require(Self.search(9_000_000, bytesMax: 1_000_000).best)
        #expect(few.colors < 256 && few.rate == .all && few.scale == 1)
        let slow = try #require(Self.search(20_000_000, bytesMax: 1_000_000).best)
        #expect(slow.colors == 32 && slow.rate != .all && slow.scale == 1)
        let small = try #require(Self.search(200_000_000, bytesMax: 1_000_000).best)
        #expect(small.scale < 1)
    }

    @Test func `The ladder ends without a result when no step is small enough`() {
        var ladder = AnimationLadder(bytesMax: 10)
        var tries = 0
        while ladder.step != nil, tries < 100 {
            tries += 1
            ladder.record(bytes: 1_000)
        }
        #expect(ladder.best == nil)
        #expect(tries < 100)
    }

    @Test func `The ladder starts at the given frame rate share`() {
        let half = FrameRateShare(kept: 1, of: 2)
        #expect(AnimationLadder(bytesMax: 10, rate: half).step?.rate == half)
    }
}
