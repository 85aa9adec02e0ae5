import RichPush
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

@Suite struct BitRateBracketTests {
    private func rung(_ kilobits: Int, kept: Double? = nil) -> AudioLadder.Rung {
        AudioLadder.Rung(
            bitRate: kilobits * 1_000, channels: 1, sampleRate: 44_100, keptSeconds: kept, isFull: false)
    }

    @Test func `The first step is not bounded`() {
        var bracket = BitRateBracket()
        bracket.record(rung(80), measured: 100_000, fits: false)
        #expect(bracket.bounding(rung(64)) == rung(64))
    }

    @Test func `A step with little effect is followed by a larger one`() {
        var bracket = BitRateBracket()
        bracket.record(rung(80), measured: 92_000, fits: false)
        bracket.record(rung(70), measured: 90_000, fits: false)
        #expect(bracket.bounding(rung(62)).bitRate < 55_000)
        #expect(bracket.bounding(rung(62)).bitRate >= 24_000)
    }

    @Test func `A bit rate that was too high is not tried again`() {
        var bracket = BitRateBracket()
        bracket.record(rung(100), measured: 100_000, fits: false)
        #expect(bracket.bounding(rung(99)).bitRate == 93_000)
        bracket.record(rung(60), measured: 60_000, fits: true)
        #expect(bracket.bounding(rung(120)).bitRate == 80_000)
    }

    @Test func `The bit rate is kept when the audio is cut`() {
        var bracket = BitRateBracket()
        bracket.record(rung(48, kept: 20), measured: 60_000, fits: false)
        #expect(bracket.bounding(rung(48, kept: 16)) == rung(48, kept: 16))
    }
}

@Suite struct AudioPaceMonitorTests {
    /// A clock whose aim is the given number of seconds from now.
    private func clock(aimingAt seconds: Double) -> WorkClock {
        let now = ContinuousClock.now
        return WorkClock(start: now - .seconds(90), aim: now + .seconds(seconds), deadline: now + .seconds(2_000))
    }

    @Test func `Nothing is cut when there is enough time`() throws {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: 1_000), seconds: 10)
        #expect(try pace.earlierEnd(after: 1) == nil)
        #expect(!pace.isCut)
    }

    @Test func `The audio ends at the current position when time has run out`() throws {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: -1), seconds: 1_000)
        #expect(try pace.earlierEnd(after: 30) == 30)
        #expect(pace.isCut)
    }

    @Test func `Half a second of a long source is not delivered`() {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: -1), seconds: 1_000)
        let error = #expect(throws: AttachPrepError.self) { try pace.earlierEnd(after: 0.5) }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func `A short source is delivered completely`() throws {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: -1), seconds: 0.6)
        #expect(try pace.earlierEnd(after: 0.6) == nil)
    }

    @Test func `The clock is not read for every packet`() throws {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: -1), seconds: 1_000)
        #expect(try pace.earlierEnd(after: 30) == 30)
        #expect(try pace.earlierEnd(after: 30.1) == nil)
    }
}
