import RichPush
import Testing

@testable import MediaProcessing

@Suite struct SoundPaceTests {
    /// A clock that aims at so many seconds from now.
    private func clock(aimingAt seconds: Double) -> WorkClock {
        let now = ContinuousClock.now
        return WorkClock(start: now - .seconds(90), aim: now + .seconds(seconds), deadline: now + .seconds(2_000))
    }

    @Test func `with time enough nothing is cut`() throws {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: 1_000), seconds: 10)
        #expect(try pace.end(after: 1) == nil)
        #expect(!pace.isCut)
    }

    @Test func `without time the sound ends where it is`() throws {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: -1), seconds: 1_000)
        #expect(try pace.end(after: 30) == 30)
        #expect(pace.isCut)
    }

    @Test func `what is not worth hearing is not delivered`() {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: -1), seconds: 1_000)
        let error = #expect(throws: AttachPrepError.self) { try pace.end(after: 0.5) }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func `a sound of half a second is worth hearing`() throws {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: -1), seconds: 0.6)
        #expect(try pace.end(after: 0.6) == nil)
    }

    @Test func `the clock is not looked at for each packet`() throws {
        var pace = AudioPaceMonitor(clock: clock(aimingAt: -1), seconds: 1_000)
        #expect(try pace.end(after: 30) == 30)
        #expect(try pace.end(after: 30.1) == nil)
    }

    @Test func `a cut fades to nothing`() {
        let cut = AudioCut(end: 1_000, fade: 400)
        #expect([0, 599].allSatisfy { cut.gain(at: $0) == 1 })
        #expect(abs(cut.gain(at: 800) - 0.5) < 0.001)
        #expect(cut.gain(at: 999) < 0.001)
        #expect(cut.gain(at: 1_000) == 0)
        #expect((600..<999).allSatisfy { cut.gain(at: $0) > cut.gain(at: $0 + 1) })
        #expect(AudioCut(end: 10, fade: 0).gain(at: 9) == 1)
    }
}
