import Testing

@testable import MediaProcessing

@Suite struct AudioLadderTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let ladder: AudioLadder
        /// Kilobits per second.
        let bitRate: ClosedRange<Int>
        let channels: Int
        let sampleRate: Int
        /// Seconds; nil for the whole duration.
        let kept: ClosedRange<Double>?

        init(
            _ description: String, seconds: Double, channels: Int = 2, sampleRate: Int = 44_100, source: Int? = nil,
            bytesMax: Int = 5_000_000, bitRateMax: Int? = nil, gives bitRate: ClosedRange<Int>, _ channelsOut: Int = 2,
            at sampleRateOut: Int = 44_100, kept: ClosedRange<Double>? = nil
        ) {
            self.description = description
            ladder = AudioLadder(
                duration: seconds, channels: channels, sampleRate: sampleRate, sourceBitRate: source,
                bytesMax: bytesMax, bitRateMax: bitRateMax)
            self.bitRate = bitRate
            self.channels = channelsOut
            self.sampleRate = sampleRateOut
            self.kept = kept
        }
    }

    static let cases = [
        Case("a song of lossless quality", seconds: 180, source: 900_000, gives: 192...192),
        Case("mono", seconds: 60, channels: 1, source: 900_000, gives: 96...96, 1),
        Case("5.1 at 192 kHz", seconds: 60, channels: 6, sampleRate: 192_000, gives: 192...192, at: 48_000),
        Case("88.2 kHz", seconds: 60, sampleRate: 88_200, gives: 192...192),
        Case("a sample rate that AAC does not support", seconds: 60, sampleRate: 37_800, gives: 192...192),
        Case("telephone audio", seconds: 60, channels: 1, sampleRate: 8_000, gives: 24...24, 1, at: 8_000),
        Case("5,512 Hz", seconds: 60, channels: 1, sampleRate: 5_512, gives: 24...24, 1, at: 8_000),
        Case(
            "speech of 32 kbit/s", seconds: 60, channels: 1, sampleRate: 48_000, source: 32_000, gives: 48...48, 1,
            at: 48_000),
        Case("stereo of 128 kbit/s", seconds: 60, source: 128_000, gives: 192...192),
        Case("stereo of 64 kbit/s", seconds: 60, source: 64_000, gives: 96...96),
        Case("display rendition", seconds: 60, source: 900_000, bitRateMax: 96_000, gives: 96...96),
        Case(
            "display rendition of telephone audio", seconds: 60, channels: 1, sampleRate: 8_000, bitRateMax: 96_000,
            gives: 24...24, 1, at: 8_000),
        Case("five minutes", seconds: 300, gives: 125...133),
        Case("eight minutes", seconds: 480, gives: 76...81, at: 32_000),
        Case("ten minutes: mono", seconds: 600, gives: 60...65, 1),
        Case("thirteen minutes: a narrow band", seconds: 780, gives: 48...50, 1, at: 32_000),
        Case("an hour: a prefix", seconds: 3_600, gives: 48...48, 1, at: 32_000, kept: 770...810),
        Case(
            "an hour of telephone audio: a longer prefix", seconds: 3_600, channels: 1, sampleRate: 8_000,
            gives: 24...24, 1, at: 8_000, kept: 1_560...1_620),
        Case("a tenth of a megabyte", seconds: 180, bytesMax: 100_000, gives: 48...48, 1, at: 32_000, kept: 14...16),
        Case("a limit of 900 bytes", seconds: 10, bytesMax: 900, gives: 48...48, 1, at: 32_000, kept: 0...0),
    ]

    @Test(arguments: cases) func `The ladder chooses the best rung that fits`(row: Case) {
        let rung = row.ladder.best
        #expect(row.bitRate.contains(rung.bitRate / 1_000), "\(rung)")
        #expect(rung.channels == row.channels)
        #expect(rung.sampleRate == row.sampleRate)
        #expect(
            row.kept.map { range in rung.keptSeconds.map(range.contains) ?? false } ?? (rung.keptSeconds == nil),
            "\(rung)")
    }

    @Test(arguments: cases) func `The predicted size of the chosen rung is within the limit`(row: Case) {
        let rung = row.ladder.best
        let seconds = rung.keptSeconds ?? row.ladder.duration
        if seconds == 0 { return }
        let bytes =
            Double(rung.bitRate) / 8 * seconds
            + row.ladder.overheadBytes(seconds: seconds, sampleRate: rung.sampleRate)
        #expect(bytes <= Double(row.ladder.bytesMax))
        #expect(rung.isFull || bytes > Double(row.ladder.bytesMax) * 0.9)
    }

    private func next(_ row: Case, measured share: Double) -> AudioLadder.Rung {
        let rung = row.ladder.best
        let budget = Double(row.ladder.bytesMax) * 0.97
        return row.ladder.rung(budget: budget, after: rung, measured: Double(rung.bitRate) * share)
    }

    @Test func `The bit rate is corrected by the measured one`() {
        let song = Self.cases[12]
        let rate = song.ladder.best.bitRate
        #expect(abs(Double(next(song, measured: 1.1).bitRate) - Double(rate) / 1.1) < 2)
        #expect(abs(Double(next(song, measured: 0.8).bitRate) - Double(rate) / 0.8) < 2)
        #expect(next(song, measured: 1.1).channels == 2)
        #expect(next(song, measured: 0.3).isFull)
    }

    @Test func `The minimum bit rate applies to the measured rate`() {
        let speech = Self.cases[15]
        #expect(next(speech, measured: 1.5).bitRate < 40_000)
        #expect(next(speech, measured: 1.5).keptSeconds == nil)
        let hour = Self.cases[16]
        let kept = hour.ladder.best.keptSeconds ?? 0
        #expect(abs((next(hour, measured: 1.5).keptSeconds ?? 0) - kept) < 20)
        #expect(next(hour, measured: 3).keptSeconds ?? 0 < kept * 0.8)
    }
}
