import Foundation
import MediaLibraries
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

@Suite struct FrameFetchTests {
    /// Fetches the middle frame of a movie of five seconds whose only keyframe is its first.
    private func fetchMiddle<Result>(
        deadline: ContinuousClock.Instant, _ body: (FrameFetch) throws -> Result
    ) throws -> Result {
        let file = try GeneratedMedia.numbered("one-group.mp4", "-an -c:v libx264 -g 500 -pix_fmt yuv420p")
        return try withDescriptor(file) { descriptor in
            let movie = try OpenMovie.open(
                descriptor, format: nil, isRecognized: true, deadline: .now + .seconds(60))
            let video = try #require(movie.video)
            var window = try #require(FrameWindow(movie, video, seconds: 2.5))
            let packet = try Packet()
            while try movie.demuxer.read(into: packet) {
                if packet.streamIndex == video.index { try window.append(packet) }
            }
            let wanted = try #require(try window.run(toMovieTime: 2.5).flatMap(WantedFrame.init))
            #expect(wanted.packets.count > 20)
            let decoder = try Decoder.open(
                stream: video.index, of: movie.demuxer, pixelsMax: Limits.moviePixelsMax)
            return try body(FrameFetch(wanted, decoder: decoder, isDeblocked: true, deadline: deadline))
        }
    }

    @Test func `A fetch returns the wanted frame`() throws {
        try fetchMiddle(deadline: .now + .seconds(60)) { fetch in
            let (outcome, decoder) = try fetch.wait()
            #expect(outcome.isComplete && outcome.decoded.isFlawless && decoder.hasDecoded)
            #expect(outcome.decoded.found?.presentationTimestamp == fetch.tick)
        }
    }

    @Test func `A fetch stops at its deadline without the frame`() throws {
        try fetchMiddle(deadline: .now - .seconds(1)) { fetch in
            let (outcome, _) = try fetch.wait()
            #expect(!outcome.isComplete && outcome.decoded.frameCount == 0 && outcome.decoded.found == nil)
        }
    }

    @Test func `A fetch that nobody waits for ends with its owner`() throws {
        var keyframe = try fetchMiddle(deadline: .now + .seconds(60)) { fetch in try #require(fetch.keyframe) }
        // The thread holds the packets until it ends.
        let isReleased = isKnownUniquelyReferenced(&keyframe)
        #expect(isReleased)
    }
}
