import Foundation
import MediaEngine
import TestSupport
import Testing

@testable import MediaProcessing

/// Which tracks of a movie are shown.
struct TrackSelectionTests {
    private static let h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 25"

    private func arguments(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// A movie of 320 x 240, and before it another video.
    private func pair(_ name: String, first: String, _ rest: String) throws -> URL {
        try GeneratedMedia.file(
            name,
            arguments("-f lavfi -i \(first) -i \(GeneratedMedia.numbered().path) -map 0:v -map 1:v -map 1:a")
                + arguments("\(Self.h264) -c:a aac \(rest)"))
    }

    /// A copy of an MP4 in which the tracks with these numbers are disabled.
    private func disabling(_ tracks: Set<Int>, of file: URL) throws -> URL {
        var bytes = [UInt8](try Data(contentsOf: file))
        for (number, header) in bytes.ranges(of: Array("tkhd".utf8)).enumerated() where tracks.contains(number) {
            bytes[header.upperBound + 3] &= 0xFE
        }
        return try GeneratedMedia.file("disabled.mp4", bytes: bytes)
    }

    @Test(arguments: ["decoy.mp4", "decoy.mkv"])
    func `A video that is not enabled or not the default is not shown`(name: String) throws {
        let file = try pair(
            name, first: "color=red:s=64x64:r=25:d=5", "-disposition:v:0 0 -disposition:v:1 default")
        #expect(try inspect(file).width == 320)
        #expect(try [50, 51].contains(frame(file, at: 2.05).number))
        let movie = try RenderedMovie(file, format: name.hasSuffix("mkv") ? .matroska : .mpeg4, copies: true)
        #expect(try movie.times().count == 125)
        #expect(movie.media.warnings.contains { $0.code == .mediaLost } == name.hasSuffix("mkv"))
    }

    @Test(arguments: ["-disposition:v:0 0 -disposition:v:1 0", "-disposition:v:0 default -disposition:v:1 0"])
    func `A single image before a video is a cover`(flags: String) throws {
        let file = try pair("cover.mkv", first: "color=red:s=64x64:r=25:d=0.04", "-c:v:0 mjpeg \(flags)")
        let media = try inspect(file)
        #expect(media.width == 320)
        #expect(abs((media.video?.lastFrameTime ?? 0) - 4.96) < 0.05)
        let movie = try RenderedMovie(file, format: .matroska, copies: true)
        #expect(try movie.times().count == 125)
        #expect(movie.media.warnings == [])
    }

    @Test func `The default audio is kept`() throws {
        let file = try GeneratedMedia.file(
            "audio.mkv",
            arguments("-i \(GeneratedMedia.numbered().path) -map 0:v -map 0:a -map 0:a \(Self.h264) -c:a:0 ac3")
                + arguments("-c:a:1 aac -disposition:a:0 0 -disposition:a:1 default"))
        #expect(try inspect(file).audio.map(\.codec) == ["aac", "ac3"])
        let movie = try RenderedMovie(file, format: .matroska, copies: true)
        #expect(try movie.probe("a", "codec_name") == ["codec_name": "aac"])
        #expect(
            movie.media.warnings.map(\.message) == [
                "A track of audio (ac3) was left out: a notification plays only one."
            ])
    }

    @Test func `Disabled audio is not heard`() throws {
        let file = try disabling([1], of: GeneratedMedia.numbered("tracks.mp4", "\(Self.h264) -c:a aac"))
        let media = try inspect(file)
        #expect(media.audio == [] && media.containerDefect == nil && media.format == .mpeg4)
    }

    @Test func `A movie whose tracks are all disabled is copied with them enabled`() throws {
        let source = try GeneratedMedia.numbered("tracks.mp4", "\(Self.h264) -c:a aac")
        let file = try disabling([0, 1], of: source)
        let media = try inspect(file)
        #expect(media.containerDefect == .tracksDisabled && media.audio.count == 1 && media.width == 320)
        let movie = try RenderedMovie(file, format: .mpeg4, copies: true)
        #expect(try inspect(movie.file).containerDefect == nil)
        #expect(try inspect(movie.file).audio.count == 1)
        #expect(try MovieProbe.videoDigest(movie.file) == MovieProbe.videoDigest(source))
    }

    @Test func `Audio that cannot be decoded is named in a warning`() throws {
        var bytes = [UInt8](
            try Data(contentsOf: GeneratedMedia.numbered("law.mov", "\(Self.h264) -c:a pcm_alaw")))
        let entry = try #require(bytes.firstRange(of: Array("alaw".utf8)))
        bytes.replaceSubrange(entry, with: Array("apac".utf8))
        let movie = try RenderedMovie(GeneratedMedia.file("apac.mov", bytes: bytes), copies: true)
        #expect(movie.media.warnings.map(\.code) == [.mediaLost])
        #expect(movie.media.warnings.first?.message.contains("(apac) was left out: it cannot be decoded") == true)
    }
}
