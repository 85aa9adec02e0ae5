import Foundation
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

/// A movie's frame when time runs short.
struct FrameInTimeTests {
    private static func long() throws -> URL {
        try GeneratedMedia.numbered("long.mp4", "-c:v libx264 -pix_fmt yuv420p -g 9999 -sc_threshold 0 -bf 3 -an")
    }

    /// Past its aim from the start, far from its deadline.
    private static var late: WorkClock {
        WorkClock(start: .now - .seconds(1), aim: .now - .milliseconds(500), deadline: .now + .seconds(60))
    }

    @Test func `Past the aim the nearest frame that is there is taken, and said not to be the one`() throws {
        let picture = try withDescriptor(Self.long()) {
            try FrameExtractor.decode(descriptor: $0, format: .mpeg4, at: 4, clock: Self.late)
        }
        let isExact = picture.isExact
        #expect(!isExact)
        #expect((picture.time ?? 9) < 4)
        let number = GeneratedMedia.frameNumber(
            width: picture.width, height: picture.height, bands: picture.bands, bytes: picture.bytes)
        #expect(number == Int(((picture.time ?? 9) * 25).rounded()))
    }

    @Test(arguments: MovieFixture.attachableMovies) func `Any movie gives a frame when it is late`(
        fixture: MovieFixture
    ) throws {
        let picture = try withDescriptor(fixture.file()) {
            try FrameExtractor.decode(descriptor: $0, format: fixture.format, at: 4, clock: Self.late)
        }
        #expect((picture.time ?? 9) <= 4.03)
    }

    @Test func `In time the frame is exact, late or not the keyframe itself is`() throws {
        let file = try Self.long()
        for clock in [WorkClock(deadline: .now + .seconds(60)), Self.late] {
            let picture = try withDescriptor(file) {
                try FrameExtractor.decode(descriptor: $0, format: .mpeg4, at: 0, clock: clock)
            }
            let isExact = picture.isExact
            #expect(isExact)
        }
    }

    @Test func `A render that had to take another frame says so`() throws {
        let folder = try TemporaryFolder()
        var request = RenderRequest(format: .mpeg4, picture: .movieTime(4))
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        let output = open(folder.path("thumbnail"), O_RDWR | O_CREAT, 0o644)
        defer { close(output) }
        let media = try withDescriptor(Self.long()) {
            try ImageRenderer(
                request: request, source: $0, outputs: [.thumbnail: OutputFile(descriptor: output)], clock: Self.late
            ).render()
        }
        #expect(media.isDegraded && media.warnings.map(\.code) == [.deadlineDegraded])
        guard case .seconds(let seconds) = media.sourcePosition else {
            throw GeneratedMedia.Failure(description: "\(media)")
        }
        #expect(seconds < 4)
    }

    @Test func `Past the deadline nothing is taken`() throws {
        let clock = WorkClock(deadline: .now - .seconds(1))
        let file = try Self.long()
        let error = #expect(throws: AttachPrepError.self) {
            try withDescriptor(file) { try FrameExtractor.decode(descriptor: $0, format: .mpeg4, at: 4, clock: clock) }
        }
        #expect(error?.code == .deadlineExceeded)
    }
}
