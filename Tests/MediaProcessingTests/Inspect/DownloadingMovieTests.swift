import Foundation
import Glibc
import Linux
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// Movies that are inspected while they are still being downloaded.
@Suite(.timeLimit(.minutes(2))) struct DownloadingMovieTests {
    private static let h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -sc_threshold 0"
    /// Movies with the index in front, of one, a few and many groups of pictures, with and without audio.
    private static let movies = [
        MovieFixture("front-one.mp4", .mpeg4, "\(h264) -g 9999 -bf 3 -c:a aac -movflags +faststart"),
        MovieFixture("front-two.mp4", .mpeg4, "\(h264) -g 75 -bf 3 -c:a aac -movflags +faststart"),
        MovieFixture("front-many.mp4", .mpeg4, "\(h264) -g 12 -bf 2 -an -movflags +faststart"),
        MovieFixture("front-open.mp4", .mpeg4, "\(h264) -g 25 -x264-params open-gop=1 -an -movflags +faststart"),
        MovieFixture("front.mov", .quickTime, "\(h264) -g 50 -c:a aac -movflags +faststart"),
        MovieFixture(
            "front-hevc.mp4", .mpeg4,
            "-c:v libx265 -x265-params log-level=none:keyint=40 -tag:v hvc1 -pix_fmt yuv420p -an -movflags +faststart"),
        // Groups with more frames than are validated.
        MovieFixture(
            "front-large.mp4", .mpeg4,
            "-vf scale=2560:1920 \(h264) -preset ultrafast -bf 2 -g 70 -an -movflags +faststart"),
    ]

    private struct Inspection: Equatable {
        let answer: MediaAnswer
        let thumbnail: [UInt8]
    }

    private func request(_ fixture: MovieFixture, _ seconds: Double?) -> InspectRequest {
        let box = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        return InspectRequest(
            format: fixture.format, decodesStills: false, expected: ExpectedThumbnail(box: box, seconds: seconds))
    }

    private func perform(_ request: InspectRequest, _ descriptors: [CInt]) throws -> Inspection {
        let thumbnail = try GeneratedMedia.file("\(UUID().uuidString).jpg", bytes: [])
        let target = open(thumbnail.path, O_RDWR)
        defer { close(target) }
        let answer = try MediaProcessor().perform(
            .inspect(request), descriptors: [descriptors[0], target] + descriptors.dropFirst(),
            deadline: .now + .seconds(60))
        return Inspection(answer: answer, thumbnail: [UInt8](try Data(contentsOf: thumbnail)))
    }

    private func complete(_ fixture: MovieFixture, _ seconds: Double?) throws -> Inspection {
        let source = open(try fixture.file().path, O_RDONLY)
        defer { close(source) }
        return try perform(request(fixture, seconds), [source])
    }

    /// Inspects a file that grows piece by piece, with a signal after each piece. Writer and reader do not wait for
    /// each other.
    ///
    /// - Parameter bytes: The number that is written before the writer stops; nil for all.
    private func downloading(
        _ fixture: MovieFixture, _ seconds: Double?, piece: Int = 7_000, until bytes: Int? = nil
    ) throws -> Inspection {
        let content = [UInt8](try Data(contentsOf: fixture.file()))
        let file = try GeneratedMedia.file("\(UUID().uuidString).part", bytes: Array(content.prefix(100)))
        let pipe = try BytePipe()
        let writer = Thread {
            let end = open(file.path, O_WRONLY | O_APPEND)
            var offset = 100
            while offset < bytes ?? content.count {
                let next = min(offset + piece, bytes ?? content.count)
                _ = unsafe content[offset..<next].withUnsafeBytes { unsafe write(end, $0.baseAddress, $0.count) }
                offset = next
                pipe.send(DownloadSignal.more.rawValue)
            }
            close(end)
            if bytes == nil { pipe.send(DownloadSignal.complete.rawValue) }
            pipe.closeWriteEnd()
        }
        writer.start()
        var request = request(fixture, seconds)
        request.downloadingBytes = content.count
        let source = open(file.path, O_RDONLY)
        defer { close(source) }
        return try perform(request, [source, pipe.readEnd])
    }

    @Test(arguments: movies, [nil, 0, 0.9, 2.96, 4.9])
    func `Inspecting a downloading movie gives the same result as inspecting the complete file`(
        fixture: MovieFixture, seconds: Double?
    ) throws {
        let found = try downloading(fixture, seconds)
        #expect(try found == complete(fixture, seconds))
        guard case .inspected(_, .some) = found.answer else {
            return #expect(fixture.name == "front-open.mp4", "\(found.answer)")
        }
    }

    @Test func `A movie whose index is at the end is abandoned before it is complete`() throws {
        let fixture = MovieFixture("back.mp4", .mpeg4, "\(Self.h264) -c:a aac")
        let source = open(try fixture.file().path, O_RDONLY)
        defer { close(source) }
        var request = request(fixture, nil)
        // The announced length is twice that of the file, and no signal of completion is ever sent.
        let pipe = try BytePipe()
        request.downloadingBytes = try Data(contentsOf: fixture.file()).count * 2
        let error = #expect(throws: AttachPrepError.self) { try perform(request, [source, pipe.readEnd]) }
        #expect(error?.code == .internal)
    }

    @Test(arguments: [0.02, 0.5, 0.999]) func `A movie whose download stops fails`(share: Double) throws {
        let fixture = Self.movies[1]
        let bytes = Int(Double(try Data(contentsOf: fixture.file()).count) * share)
        #expect(throws: AttachPrepError.self) { try downloading(fixture, nil, until: bytes) }
    }
}
