import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// Extraction of a movie's frame when time runs short.
struct FrameExtractorDeadlineTests {
    private static func long() throws -> URL {
        try GeneratedMedia.numbered("long.mp4", "-c:v libx264 -pix_fmt yuv420p -g 9999 -sc_threshold 0 -bf 3 -an")
    }

    /// A clock whose aim has passed and whose deadline is far away.
    private static var late: WorkClock {
        WorkClock(start: .now - .seconds(1), aim: .now - .milliseconds(500), deadline: .now + .seconds(60))
    }

    @Test func `After the aim the nearest decoded frame is returned as inexact`() throws {
        let decoded = try withDescriptor(Self.long()) {
            try FrameExtractor.decode(descriptor: $0, format: .mpeg4, at: 4, clock: Self.late)
        }
        let isExact = decoded.isExact
        #expect(!isExact)
        #expect((decoded.time ?? 9) < 4)
        let number = GeneratedMedia.frameNumber(
            width: decoded.width, height: decoded.height, bands: decoded.bands, bytes: decoded.bytes)
        #expect(number == Int(((decoded.time ?? 9) * 25).rounded()))
    }

    @Test(arguments: MovieFixture.attachableMovies) func `Every movie gives a frame after the aim`(
        fixture: MovieFixture
    ) throws {
        let decoded = try withDescriptor(fixture.file()) {
            try FrameExtractor.decode(descriptor: $0, format: fixture.format, at: 4, clock: Self.late)
        }
        #expect((decoded.time ?? 9) <= 4.03)
    }

    @Test func `The first keyframe is exact before and after the aim`() throws {
        let file = try Self.long()
        for clock in [WorkClock(deadline: .now + .seconds(60)), Self.late] {
            let decoded = try withDescriptor(file) {
                try FrameExtractor.decode(descriptor: $0, format: .mpeg4, at: 0, clock: clock)
            }
            let isExact = decoded.isExact
            #expect(isExact)
        }
    }

    @Test func `A render that returns another frame is degraded and reports its time`() throws {
        let folder = try TemporaryFolder()
        var request = RenderRequest(format: .mpeg4, frameSelection: .movieTime(4))
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
            throw GeneratedMedia.FixtureError(description: "\(media)")
        }
        #expect(seconds < 4)
    }

    @Test func `After the deadline no frame is returned`() throws {
        let clock = WorkClock(deadline: .now - .seconds(1))
        let file = try Self.long()
        let error = #expect(throws: AttachPrepError.self) {
            try withDescriptor(file) { try FrameExtractor.decode(descriptor: $0, format: .mpeg4, at: 4, clock: clock) }
        }
        #expect(error?.code == .deadlineExceeded)
    }
}
