import Testing

@testable import MediaProcessing

@Suite struct SoundBracketTests {
    private func rung(_ kilobits: Int, kept: Double? = nil) -> AudioLadder.Rung {
        AudioLadder.Rung(
            bitRate: kilobits * 1_000, channels: 1, sampleRate: 44_100, keptSeconds: kept, isFull: false)
    }

    @Test func `the first step is taken as it is`() {
        var bracket = BitRateBracket()
        bracket.take(rung(80), measured: 100_000, fits: false)
        #expect(bracket.bounding(rung(64)) == rung(64))
    }

    @Test func `a step that brought little is followed by a longer one`() {
        var bracket = BitRateBracket()
        bracket.take(rung(80), measured: 92_000, fits: false)
        bracket.take(rung(70), measured: 90_000, fits: false)
        #expect(bracket.bounding(rung(62)).bitRate < 55_000)
        #expect(bracket.bounding(rung(62)).bitRate >= 24_000)
    }

    @Test func `what was too much is not asked for again`() {
        var bracket = BitRateBracket()
        bracket.take(rung(100), measured: 100_000, fits: false)
        #expect(bracket.bounding(rung(99)).bitRate == 93_000)
        bracket.take(rung(60), measured: 60_000, fits: true)
        #expect(bracket.bounding(rung(120)).bitRate == 80_000)
    }

    @Test func `where seconds are cut the rate stays`() {
        var bracket = BitRateBracket()
        bracket.take(rung(48, kept: 20), measured: 60_000, fits: false)
        #expect(bracket.bounding(rung(48, kept: 16)) == rung(48, kept: 16))
    }
}
