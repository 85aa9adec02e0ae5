import Foundation
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

@Suite struct CoverArtTests {
    private func withCover(_ name: String, _ arguments: [String]) throws -> URL {
        let image = try GeneratedMedia.file(
            "cover.png", ["-f", "lavfi", "-i", "testsrc=s=600x600", "-frames:v", "1"])
        return try GeneratedMedia.file(
            name, ["-i", GeneratedMedia.numbered().path, "-i", image.path, "-map", "0:a", "-map", "1:v"] + arguments)
    }

    @Test(arguments: [
        ("cover3.mp3", ["-c:a", "libmp3lame", "-c:v", "png", "-id3v2_version", "3"]),
        ("cover4.mp3", ["-c:a", "libmp3lame", "-c:v", "mjpeg", "-id3v2_version", "4", "-write_id3v1", "1"]),
        ("cover.m4a", ["-c:a", "aac", "-c:v", "png", "-disposition:v", "attached_pic"]),
        ("cover.flac", ["-c:a", "flac", "-c:v", "png", "-disposition:v", "attached_pic"]),
    ])
    func `Cover art is extracted as a PNG or JPEG and does not make the file a movie`(
        name: String, arguments: [String]
    ) throws {
        let file = try withCover(name, arguments)
        let media = try inspect(file)
        #expect(media.kind == .audio)
        #expect(media.hasCoverArt)
        #expect(media.video == nil)
        let bytes = try withDescriptor(file) {
            try CoverArt.image(descriptor: $0, format: media.format, deadline: .now + .seconds(60))
        }
        #expect([[0x89, 0x50], [0xFF, 0xD8]].contains(Array(try #require(bytes).prefix(2))))
    }

    @Test func `Audio without cover art has none`() throws {
        let bytes = try withDescriptor(MovieFixture.attachableAudio[5].file()) {
            try CoverArt.image(descriptor: $0, format: .mp3, deadline: .now + .seconds(60))
        }
        #expect(bytes == nil)
    }
}
