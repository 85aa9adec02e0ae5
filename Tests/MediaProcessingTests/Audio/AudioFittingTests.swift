import MediaTypes
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

/// Encoding of audio at given speeds, on a clock of its own.
@Suite struct AudioPaceMonitorTests {
    /// What became of the audio.
    private struct Course: Equatable {
        var end: Double?
        var restarted = false
        var spent = 0.0
    }

    /// - Parameter speed: Seconds of audio per second of work, by the seconds that have passed.
    private func course(
        of seconds: Double, within budget: Double, isQuick: Bool = true, speed: (Double) -> Double
    ) throws -> Course {
        let time = ManualTime()
        let clock = time.clock(aimingAt: budget)
        var pace = AudioPaceMonitor(clock: clock, seconds: seconds, isQuick: isQuick)
        var (course, done) = (Course(), 0.0)
        while done < min(seconds, course.end ?? .infinity) {
            // A packet.
            done += 0.025
            time.pass(0.025 / speed(clock.secondsSpent))
            switch try pace.decision(after: done) {
            case .asBefore: break
            case .whole: course.end = nil
            case .end(let end): course.end = end
            case .restart:
                course.restarted = true
                course.spent = clock.secondsSpent
                return course
            }
        }
        course.spent = clock.secondsSpent
        #expect(pace.isCut == (course.end != nil))
        return course
    }

    @Test func `Audio is complete when the machine is slow for half a second, then fast`() throws {
        for isQuick in [true, false] {
            let course = try course(of: 300, within: 8, isQuick: isQuick) { $0 < 0.5 ? 2 : 100 }
            #expect(course.end == nil && !course.restarted && course.spent < 8)
        }
    }

    @Test func `Audio is cut when the machine stays slow, and uses the time`() throws {
        let course = try course(of: 300, within: 8) { _ in 20 }
        let end = try #require(course.end)
        #expect(end > 150 && end <= 160)
        #expect(course.spent > 7.5 && course.spent <= 8)
    }

    @Test func `Audio is cut in time when the machine becomes slow`() throws {
        let course = try course(of: 300, within: 8) { $0 < 2 ? 60 : 10 }
        #expect(try #require(course.end) > 170)
        #expect(course.spent <= 8.1)
    }

    @Test func `The faster coder begins while it can still encode all of the audio`() throws {
        let course = try course(of: 300, within: 8, isQuick: false) { _ in 30 }
        #expect(course.restarted)
        #expect(300 / 60 <= 8 - course.spent && course.spent > 2)
    }

    @Test func `A machine that is too slow for both coders gets the faster one`() throws {
        let course = try course(of: 3_000, within: 8, isQuick: false) { _ in 30 }
        #expect(course.restarted && course.spent < 2.7)
    }

    @Test func `Half a second of a long source is not delivered`() {
        let error = #expect(throws: AttachPrepError.self) { try course(of: 1_000, within: 1) { _ in 0.5 } }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func `A short source is delivered completely`() throws {
        #expect(try course(of: 0.4, within: 0.5) { _ in 1 }.end == nil)
    }
}
