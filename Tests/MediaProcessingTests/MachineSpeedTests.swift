import MediaTypes
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// Animations and movies are reduced for lack of time only when that is what the latest pace says (issue 44).
@Suite struct MachineSpeedTests {
    // MARK: Animations

    /// Frames of noise that take their time.
    private final class SlowFrames: AnimationDecoder {
        let (width, height, count, loopCount) = (32, 32, 200, 0)
        private let time: ManualTime
        private let speed: MachineSpeed
        private var number = 0

        init(_ time: ManualTime, _ speed: MachineSpeed) { (self.time, self.speed) = (time, speed) }

        func next() throws -> AnimationFrame? {
            guard number < count else { return nil }
            number += 1
            time.pass(0.02 * speed.slowness(at: time.spent))
            var state = UInt32(truncatingIfNeeded: number)
            let pixels = (0..<width * height).flatMap { _ -> [UInt8] in
                state = state &* 1_664_525 &+ 1_013_904_223
                return [UInt8(state >> 24), UInt8(state >> 16 & 255), UInt8(state >> 8 & 255), 255]
            }
            return AnimationFrame(pixels: pixels, delayMilliseconds: 100)
        }
    }

    /// 200 frames, 4 s of work on a fast machine, within 12 s.
    private func found(_ speed: MachineSpeed, bytesMax: Int) throws -> (found: AnimationSearch.Found, spent: Double) {
        let time = ManualTime()
        let delays = [Int](repeating: 100, count: 200)
        let search = AnimationSearch(
            facts: AnimationFacts(width: 32, height: 32, delays: delays, loopCount: 0), bytesMax: bytesMax,
            baseScale: 1, clock: time.clock(aimingAt: 12), open: { SlowFrames(time, speed) })
        return (try search.run(), time.spent)
    }

    @Test func `An animation is whole when the machine is slow for half a second, then fast`() throws {
        let (found, _) = try found(.slowThenFast, bytesMax: 10_000_000)
        #expect(!found.isTimeLimited && found.entries.count == 200 && found.width == 32)
    }

    @Test func `A smaller animation is reduced for its bytes only when the machine was slow at first`() throws {
        let (found, spent) = try found(.slowThenFast, bytesMax: 100_000)
        #expect(!found.isTimeLimited, "\(found.entries.count) frames of \(found.width) after \(spent) s")
        #expect(found.bytes.count > 60_000)
    }

    @Test(arguments: [MachineSpeed.slow, .fastThenSlow])
    func `An animation is reduced in time when the machine stays or becomes slow`(speed: MachineSpeed) throws {
        let (found, spent) = try found(speed, bytesMax: 10_000_000)
        #expect(found.isTimeLimited && spent <= 13 && found.entries.count < 200)
    }

    // MARK: Movies

    /// The result of a movie on a machine, without any media: what the ladder and the monitor decide.
    private struct Course {
        var choice: MovieChoice
        var stoppedAt: Double?
        var spent: Double
    }

    /// 80 s of 720p, some 9 s of work on a fast machine, within 20 s.
    private func course(_ speed: MachineSpeed) throws -> Course {
        let (time, rate, seconds) = (ManualTime(), 25.0, 80.0)
        let clock = time.clock(aimingAt: 20)
        let shape = MovieShape(width: 1280, height: 720)
        func estimate(slowness: Double) -> EncodeEstimate {
            EncodeEstimate(
                shape: shape, frameRate: rate, frameRateMax: 60, duration: seconds,
                curve: RateCurve(bytes: 5e6, at: 23), trialShape: shape, trialPreset: .veryfast,
                secondsPerFrame: 0.002 * slowness, secondsPerMegapixel: 0.004 * slowness, bytesMax: 50e6,
                qualityBest: Limits.movieQuality, secondsLeft: clock.secondsLeft)
        }
        func work(_ seconds: Double) { time.pass(seconds * speed.slowness(at: time.spent)) }
        /// At most 120 frames, in a tenth of the time, as in a trial.
        func measured() -> EncodeEstimate {
            let (start, limit) = (time.spent, clock.secondsLeft / 10)
            var frames = 0
            while frames < 120, time.spent - start < limit {
                work(0.008)
                frames += 1
            }
            return estimate(slowness: (time.spent - start) / (Double(frames) * 0.008))
        }
        let truth = MovieLadder(estimate: estimate(slowness: 1))
        let (choice, written) = try MovieEncoding(bytesMax: 50_000_000, clock: clock).run(
            measured().renewedIfForced(measured), cut: nil
        ) { choice, rateController, canRestart in
            var monitor = PassMonitor(
                clock, end: seconds, encodeSecondsPerFrame: choice.encodeSecondsPerFrame, canRestart: canRestart)
            let frames = Int(seconds * rate)
            var written = MoviePassResult(bytes: 49_000_000, duration: seconds)
            written.rateController = rateController
            for frame in 1...frames {
                work(truth.seconds(choice) / Double(frames))
                let position = Double(frame) / rate
                switch monitor.check(framesSent: frame, framesWritten: max(0, frame - 10), time: position) {
                case .fine: continue
                case .behind(let slowness): throw MovieEncodeError.behind(slowness)
                case .late:
                    written.stoppedAt = position
                    return written
                }
            }
            return written
        }
        return Course(choice: choice, stoppedAt: written.stoppedAt, spent: time.spent)
    }

    @Test func `A movie is whole when the machine is slow for half a second, then fast`() throws {
        let course = try course(.slowThenFast)
        #expect(course.stoppedAt == nil && !course.choice.isForcedByTime && course.choice.skipping == .none)
        #expect(course.choice.shape.shortSide == 720 && course.spent <= 20)
    }

    @Test func `A movie is reduced in time when the machine stays slow`() throws {
        let course = try course(.slow)
        #expect(course.choice.isForcedByTime && course.spent <= 20)
    }

    @Test func `A movie is complete or ends in time when the machine becomes slow`() throws {
        let course = try course(.fastThenSlow)
        #expect(course.spent <= 20)
        #expect(course.choice.isForcedByTime || course.stoppedAt != nil)
    }
}
