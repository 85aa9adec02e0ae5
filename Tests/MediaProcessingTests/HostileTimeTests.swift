import LibAV
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

/// Times that no honest file has: nothing that counts ticks or samples may end the process over them. Most of these
/// files pass inspection, which believes the sum of the samples.
@Suite struct HostileTimeTests {
    /// The furthest that is still taken for a time, in ticks.
    private static let furthest: Int64 = 1 << 60
    /// Nanoseconds of a tick: the usual ones, and the most that Matroska can say.
    private static let scales: [UInt32] = [1_000_000, .max]

    private static func pictures(_ count: Int) -> [WrittenMatroska.Block] {
        (0..<count).map { WrittenMatroska.Block(time: Int64($0) * 100) }
    }

    private static func sounds(_ count: Int) -> [WrittenMatroska.Block] {
        (0..<count).map { WrittenMatroska.Block(time: Int64($0) * 100, isSound: true) }
    }

    /// A file of them, or the product's own error.
    private func convert(_ movie: WrittenMatroska) throws {
        do {
            let rendered = try RenderedMovie(movie.file(), format: .matroska, budget: 10)
            #expect((rendered.media.attachment?.duration ?? -1) >= 0)
        } catch let error as AttachPrepError {
            #expect(error.code != .internal, "\(error)")
        }
    }

    @Test func `A written Matroska is converted whole`() throws {
        var movie = WrittenMatroska(
            hasSound: true, blocks: zip(Self.pictures(20), Self.sounds(20)).flatMap { [$0, $1] })
        let whole = try RenderedMovie(movie.file(), format: .matroska)
        #expect(abs((whole.media.attachment?.duration ?? 0) - 2) < 0.2)
        movie.hasPictures = false
        movie.blocks = Self.sounds(20)
        let sound = try RenderedSound(movie.file(), .matroskaAudio, AudioRendition(bytesMax: 100_000, copies: false))
        #expect(abs((sound.media.attachment?.duration ?? 0) - 2) < 0.2)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max], [Int32.min, 0, 1, .max])
    func `Seconds of any number of ticks are a number that can be counted in ticks and samples`(
        ticks: Int64, tick: Int32
    ) {
        for denominator in [Int32.min, 0, 1, .max] {
            let base = TimeBase(numerator: tick, denominator: denominator)
            #expect(abs(base.seconds(ticks)) <= TimeBase.secondsMax)
            #expect(base.ticks(base.seconds(ticks)).magnitude < Int64.max.magnitude)
        }
    }

    @Test func `A length that no sound has can be said`() {
        #expect(AudioReport.length(1e300).hasSuffix(" s"))
        #expect(AudioReport.length(.nan) == "0 s")
    }

    @Test(arguments: scales, [-furthest, -furthest / 1_000, furthest / 1_000, furthest])
    func `A picture ages away from the others ends no process`(scale: UInt32, time: Int64) throws {
        for index in [0, 6] {
            var blocks = Self.pictures(12)
            blocks[index].time = time
            try convert(WrittenMatroska(scale: scale, blocks: blocks))
        }
    }

    @Test(arguments: scales, [0, 6])
    func `A picture that is shown for ages ends no process`(scale: UInt32, index: Int) throws {
        var blocks = Self.pictures(12)
        blocks[index].duration = Self.furthest
        try convert(WrittenMatroska(scale: scale, blocks: blocks))
    }

    @Test(arguments: scales, [0, 6])
    func `A movie's sound that lasts for ages ends no process`(scale: UInt32, index: Int) throws {
        var sounds = Self.sounds(12)
        sounds[index].duration = Self.furthest
        try convert(
            WrittenMatroska(scale: scale, hasSound: true, blocks: zip(Self.pictures(12), sounds).flatMap { [$0, $1] }))
    }

    @Test(arguments: scales, [-furthest, furthest])
    func `A movie's sound ages away from its pictures ends no process`(scale: UInt32, time: Int64) throws {
        for index in [0, 6] {
            var sounds = Self.sounds(12)
            sounds[index].time = time
            let blocks = zip(Self.pictures(12), sounds).flatMap { [$0, $1] }
            try convert(WrittenMatroska(scale: scale, hasSound: true, blocks: blocks))
        }
    }

    @Test(arguments: scales, [true, false])
    func `A sound that lasts for ages ends no process`(scale: UInt32, isRepair: Bool) throws {
        for index in [0, 6] {
            var sounds = Self.sounds(12)
            sounds[index].duration = Self.furthest
            var rendition = AudioRendition(bytesMax: 20_000, copies: false)
            rendition.isRepair = isRepair
            let file = try WrittenMatroska(scale: scale, hasPictures: false, hasSound: true, blocks: sounds).file()
            do {
                let rendered = try RenderedSound(file, .matroskaAudio, rendition, seconds: 10)
                #expect((rendered.media.attachment?.duration ?? -1) >= 0)
            } catch let error as AttachPrepError {
                #expect(error.code != .internal, "\(error)")
            }
        }
    }
}
