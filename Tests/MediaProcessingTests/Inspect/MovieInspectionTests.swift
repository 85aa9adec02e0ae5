import AttachPrepModel
import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

@Suite struct MovieInspectionTests {
    private func code(_ file: URL, as format: MediaFormat? = nil) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try inspect(file, as: format) }?.code
    }

    @Test(arguments: MovieFixture.all) func `An intact file gives its format and a duration of five seconds`(
        fixture: MovieFixture
    ) throws {
        let media = try inspect(fixture.file(), as: fixture.format)
        #expect(media.format == fixture.format)
        #expect(abs((media.duration ?? 0) - 5) < 0.12)
        #expect((media.video != nil) == (fixture.format.kind == .movie))
    }

    @Test(arguments: MovieFixture.all)
    func `Without a hint the format is detected from the content`(fixture: MovieFixture) throws {
        #expect(try inspect(fixture.file()).format == fixture.format)
    }

    @Test(
        arguments: MovieFixture.attachableMovies + MovieFixture.attachableAudio + MovieFixture.otherAudio,
        [30, 62, 99])
    func `A truncated file is damaged or corrupt`(fixture: MovieFixture, percent: Int) throws {
        let file = try GeneratedMedia.cut(fixture.file(), percent: percent)
        do {
            #expect(try inspect(file, as: fixture.format).damage != nil)
        } catch let error as AttachPrepError {
            #expect(error.code == .mediaCorrupt)
        }
    }

    @Test func `A movie's streams are described`() throws {
        let media = try inspect(MovieFixture.attachableMovies[0].file())
        let video = try #require(media.video)
        #expect((media.width, media.height) == (320, 240))
        #expect((video.codec, video.codecTag, video.pixelFormat) == ("h264", "avc1", "yuv420p"))
        #expect((video.bitDepth, video.isChroma420, video.isHDR) == (8, true, false))
        #expect(abs((video.frameRate ?? 0) - 25) < 0.01)
        #expect((video.firstFrameTime, video.lastFrameTime) == (0, 4.96))
        #expect(media.audio.map(\.codec) == ["aac"])
        #expect(media.audio.first?.sampleRate == 44_100)
        #expect(!media.hasCoverArt && !media.hasLocation)
    }

    @Test(arguments: [
        ("-pix_fmt yuv422p10le", "yuv422p10le", "High 4:2:2"), ("-pix_fmt yuvj420p", "yuvj420p", "High"),
        ("-pix_fmt yuv420p -profile:v baseline", "yuv420p", "Constrained Baseline"),
    ])
    func `Pixel format and profile of H.264 are those of its data`(
        arguments: String, pixelFormat: String, profile: String
    ) throws {
        let file = try GeneratedMedia.numbered("format.mp4", "-t 1 -c:v libx264 \(arguments) -c:a aac")
        #expect(try isDescribedByHeader(file))
        let video = try #require(try inspect(file).video)
        #expect((video.pixelFormat, video.profile) == (pixelFormat, profile))
    }

    @Test func `Size and transfer function of H.264 are those of its data`() throws {
        let encoding = "-t 1 -c:v libx264 -pix_fmt yuv420p -an -bsf:v h264_metadata="
        let hdr = try GeneratedMedia.numbered("transfer.mp4", encoding + "transfer_characteristics=16")
        #expect(try inspect(hdr).video?.isHDR == true)
        let cropped = try inspect(GeneratedMedia.numbered("cropped.mp4", encoding + "crop_right=32"))
        #expect((cropped.width, cropped.height) == (288, 240))
    }

    @Test func `A frame that only its data declares to be too large is rejected`() throws {
        let wide = try GeneratedMedia.numbered(
            "wide.mp4",
            "-frames:v 2 -vf scale=2560:1600,setsar=0 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -an"
                + " -bsf:v h264_metadata=sample_aspect_ratio=10/1")
        var bytes = [UInt8](try Data(contentsOf: wide))
        // Without a size in the track header, the aspect ratio is that of the data.
        let size = try #require(bytes.firstRange(of: Array("tkhd".utf8))).upperBound + 76
        bytes.replaceSubrange(size..<size + 8, with: [UInt8](repeating: 0, count: 8))
        let file = try GeneratedMedia.file("wide.mp4", bytes: bytes)
        #expect(try isDescribedByHeader(file))
        #expect(code(file) == .mediaTooManyPixels)
    }

    private func isDescribedByHeader(_ file: URL) throws -> Bool {
        try withDescriptor(file) {
            try OpenMovie.open(
                $0, format: nil, isRecognized: true, isForValidation: true, deadline: .now + .seconds(60)
            ).isIncomplete
        }
    }

    @Test(arguments: ["fragmented.mp4", "hvc1.mp4", "x264.mkv", "pcm.wav"])
    func `Other files are described by libav`(name: String) throws {
        let fixture = try #require(MovieFixture.all.first { $0.name == name })
        #expect(try !isDescribedByHeader(fixture.file()))
    }

    @Test func `The tag, bit depth and profile of HEVC are reported`() throws {
        let video = try #require(try inspect(MovieFixture.otherMovies[0].file()).video)
        #expect((video.codecTag, video.bitDepth, video.profile) == ("hev1", 10, "Main 10"))
    }

    @Test func `An anamorphic movie is reported with its display width`() throws {
        let media = try inspect(
            GeneratedMedia.numbered("wide.mp4", "-vf setsar=4/3 -t 1 -c:v libx264 -pix_fmt yuv420p"))
        #expect((media.width, media.height) == (427, 240))
        #expect(media.video?.storedWidth == 320)
    }

    @Test func `A sample aspect ratio close to 1 is treated as square`() throws {
        let media = try inspect(
            GeneratedMedia.numbered("near.mp4", "-vf setsar=201/200 -t 1 -c:v libx264 -pix_fmt yuv420p"))
        #expect(media.width == 320)
        #expect(media.video?.sampleAspectRatio == 1)
    }

    @Test(arguments: Orientation.allCases)
    func `The orientation is read from the track header`(orientation: Orientation) throws {
        let media = try inspect(OrientedMovie.file(orientation))
        #expect(media.orientation == orientation)
        #expect(media.width == (orientation.swapsSides ? 240 : 320))
    }

    @Test func `HDR is recognized by its transfer function`() throws {
        let arguments =
            "-t 1 -pix_fmt yuv420p10le -c:v libx265 -tag:v hvc1 -color_primaries bt2020 -color_trc smpte2084"
            + " -colorspace bt2020nc"
            + " -x265-params log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
        #expect(try inspect(GeneratedMedia.numbered("hdr.mp4", arguments)).video?.isHDR == true)
    }

    @Test func `A location in the metadata is reported`() throws {
        let file = try GeneratedMedia.numbered("location.mp4", "-t 1 -c:v libx264 -metadata location=+48.2+016.3/")
        #expect(try inspect(file).hasLocation)
    }

    @Test func `A movie of one frame lasts as long as that frame`() throws {
        let media = try inspect(GeneratedMedia.numbered("one.mp4", "-frames:v 1 -an -c:v libx264 -pix_fmt yuv420p"))
        #expect(media.duration == 0.04)
        #expect(media.video?.lastFrameTime == 0)
    }

    @Test func `An edit list shifts the timeline`() throws {
        let source = try MovieFixture.attachableMovies[0].file()
        let file = try GeneratedMedia.file(
            "edit.mp4",
            [
                "-itsoffset", "0.5", "-i", source.path, "-i", source.path,
                "-map", "0:v", "-map", "1:a", "-c", "copy",
            ])
        let media = try inspect(file)
        #expect(abs((media.video?.firstFrameTime ?? 0) - 0.5) < 0.001)
        #expect(abs((media.duration ?? 0) - 5.5) < 0.01)
    }

    @Test func `The duration comes from the samples, not the movie header`() throws {
        let file = try MovieFixture.attachableMovies[0].file()
        var bytes = [UInt8](try Data(contentsOf: file))
        let header = try #require(bytes.firstRange(of: Array("mvhd".utf8)))
        bytes.replaceSubrange(header.upperBound + 16..<header.upperBound + 20, with: [0x08, 0, 0, 0])
        #expect(abs((try inspect(GeneratedMedia.file("absurd.mp4", bytes: bytes)).duration ?? 0) - 5) < 0.1)
    }

    @Test(arguments: [MovieFixture.attachableMovies[1], MovieFixture.attachableMovies[8]], [0.4, 0.7])
    func `A range of zeros, as an unfinished download leaves it, is damage`(
        fixture: MovieFixture, start: Double
    ) throws {
        var bytes = [UInt8](try Data(contentsOf: fixture.file()))
        let hole = Int(Double(bytes.count) * start)..<Int(Double(bytes.count) * (start + 0.2))
        bytes.replaceSubrange(hole, with: [UInt8](repeating: 0, count: hole.count))
        let media = try inspect(GeneratedMedia.file("hole-\(fixture.name)", bytes: bytes))
        #expect(abs((media.damage?.declaredDuration ?? 0) - 5) < 0.1)
    }

    @Test func `Zeros over more than half of the file are corrupt`() throws {
        var bytes = [UInt8](try Data(contentsOf: MovieFixture.attachableMovies[1].file()))
        let hole = bytes.count * 3 / 10..<bytes.count * 95 / 100
        bytes.replaceSubrange(hole, with: [UInt8](repeating: 0, count: hole.count))
        #expect(code(try GeneratedMedia.file("hole.mp4", bytes: bytes)) == .mediaCorrupt)
    }

    @Test func `Encrypted samples are reported as encrypted`() throws {
        let key = "00112233445566778899aabbccddeeff"
        let file = try GeneratedMedia.numbered(
            "cenc.mp4",
            "-t 1 -c:v libx264 -pix_fmt yuv420p -c:a aac"
                + " -encryption_scheme cenc-aes-ctr -encryption_key \(key) -encryption_kid \(key)")
        #expect(code(file) == .mediaEncrypted)
    }

    @Test func `Text and playlists are unrecognized, and an empty file is empty`() throws {
        #expect(code(try GeneratedMedia.file("a.txt", bytes: Array("hello, world".utf8))) == .mediaUnrecognized)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
        #expect(code(try GeneratedMedia.file("a.m3u8", bytes: Array(playlist.utf8))) == .mediaUnrecognized)
        #expect(code(try GeneratedMedia.file("empty.mp4", bytes: [])) == .mediaEmpty)
    }

    @Test func `More pixels than 8K are rejected before decoding`() throws {
        let file = try GeneratedMedia.file(
            "huge.mov", ["-f", "lavfi", "-i", "color=s=8192x8192:d=0.04", "-c:v", "png", "-frames:v", "1"])
        #expect(code(file) == .mediaTooManyPixels)
    }

    @Test func `A deadline in the past fails with deadline exceeded`() throws {
        let file = try MovieFixture.attachableMovies[0].file()
        let error = #expect(throws: AttachPrepError.self) {
            try withDescriptor(file) { try MovieInspection.inspect(descriptor: $0, format: nil, deadline: .now) }
        }
        #expect(error?.code == .deadlineExceeded)
    }
}

/// Audio whose middle is not read, because its index or its size says where the last packets are.
@Suite struct UnreadMiddleTests {
    @Test(arguments: [("pcm.wav", 5.0), ("pcm24.wav", 5), ("pcm.aiff", 5), ("sound.mp4", 5), ("alac.m4a", 5)])
    func `The duration is that of a file that is read as a whole`(name: String, seconds: Double) throws {
        let fixture = try #require(MovieFixture.attachableAudio.first { $0.name == name })
        let file = try fixture.file()
        #expect(try isMiddleUnread(file))
        #expect(abs((try inspect(file, as: fixture.format).duration ?? 0) - seconds) < 0.001)
    }

    @Test(arguments: ["adpcm.wav", "constant.mp3", "free.flac", "x264.mp4"])
    func `A movie, and audio without fixed sizes, is read as a whole`(name: String) throws {
        let fixture = try #require(MovieFixture.all.first { $0.name == name })
        #expect(try !isMiddleUnread(fixture.file()))
    }

    @Test func `A header that declares ten times the samples changes nothing`() throws {
        let whole = try GeneratedMedia.numbered("float.aiff", "-vn -c:a pcm_f32be")
        var bytes = [UInt8](try Data(contentsOf: whole))
        let common = try #require(bytes.firstRange(of: Array("COMM".utf8)))
        let count = common.upperBound + 6..<common.upperBound + 10
        bytes.replaceSubrange(count, with: ParserBytes.bigEndian(10 * 5 * 44_100, 4))
        let file = try GeneratedMedia.file("declared.aiff", bytes: bytes)
        #expect(try isMiddleUnread(file))
        let media = try inspect(file)
        #expect(media.duration == 5 && media.damage == nil)
    }

    @Test func `Cover art beside the audio does not matter`() throws {
        let cover = try GeneratedMedia.file("cover.png", ["-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1"])
        let file = try GeneratedMedia.file(
            "covered.m4a",
            ["-i", GeneratedMedia.numbered().path, "-i", cover.path, "-map", "0:a", "-map", "1", "-c:v", "copy"]
                + ["-disposition:v", "attached_pic"])
        #expect(try isMiddleUnread(file))
        let media = try inspect(file)
        #expect(media.hasCoverArt && abs((media.duration ?? 0) - 5) < 0.001)
    }

    private func isMiddleUnread(_ file: URL) throws -> Bool {
        try withDescriptor(file) {
            let deadline = ContinuousClock.now + .seconds(60)
            return UnreadMiddle(try OpenMovie.open($0, format: nil, isRecognized: true, deadline: deadline)) != nil
        }
    }
}

@Suite struct MovieRecoveryTests {
    @Test(arguments: [
        MovieFixture.attachableMovies[1], MovieFixture.attachableMovies[8], MovieFixture.attachableAudio[0],
    ])
    func `The recovered duration of a truncated file is compared with the declared one`(fixture: MovieFixture) throws {
        let file = try GeneratedMedia.cut(fixture.file(), percent: 62)
        let recovered = try withDescriptor(file) {
            try MovieRecovery.read(descriptor: $0, format: fixture.format, deadline: .now + .seconds(60))
        }
        #expect(recovered.media.format == fixture.format)
        #expect((2...4.5).contains(recovered.media.duration ?? 0))
        #expect(abs((recovered.declaredDuration ?? 0) - 5) < 0.2)
    }
}

@Suite struct DisplayGeometryTests {
    private static let one: Int32 = 65_536

    /// The matrices of ISO/IEC 14496-12 for the eight EXIF orientations.
    private static let table: [(a: Int32, b: Int32, c: Int32, d: Int32, orientation: Orientation)] = [
        (one, 0, 0, one, .upright), (-one, 0, 0, one, .mirrored), (-one, 0, 0, -one, .rotated180),
        (one, 0, 0, -one, .mirroredRotated180), (0, one, one, 0, .transposed), (0, one, -one, 0, .rotated90),
        (0, -one, -one, 0, .transversed), (0, -one, one, 0, .rotated270),
    ]

    private func matrix(_ a: Int32, _ b: Int32, _ c: Int32, _ d: Int32) -> [Int32] {
        [a, b, 0, c, d, 0, 0, 0, 1 << 30]
    }

    @Test(arguments: table.indices) func `Each of the eight orientations has its display matrix`(index: Int) {
        let row = Self.table[index]
        #expect(orientation(ofDisplayMatrix: matrix(row.a, row.b, row.c, row.d)) == row.orientation)
    }

    @Test func `Scale, translation and a rotation of a few degrees are ignored`() {
        #expect(orientation(ofDisplayMatrix: [3000, 20_000, 0, -20_000, 3000, 0, 55, 66, 1 << 30]) == .rotated90)
    }

    @Test func `A missing or empty matrix is upright`() {
        #expect(orientation(ofDisplayMatrix: nil) == .upright)
        #expect(orientation(ofDisplayMatrix: matrix(0, 0, 0, 0)) == .upright)
        #expect(orientation(ofDisplayMatrix: matrix(.min, 0, 0, .min)) == .rotated180)
    }

    // MARK: Two readers of one file

    private func constantMP3() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: GeneratedMedia.numbered("tags.mp3", "-vn -c:a libmp3lame -b:a 128k")))
    }

    @Test(arguments: ["lyrics", "id3"]) func `Tags after the last frame of an MP3 are no damage`(kind: String) throws {
        var tags = Array("LYRICSBEGIN[00:01]hello\r\nLYRICSEND".utf8)
        tags += Array("TAG".utf8) + [UInt8](repeating: 0x62, count: 125)
        if kind == "id3" {
            // Bytes of a picture that look like the beginnings of frames.
            let picture = MediaBytes.repeated([0xFF, 0xFB, 0x90, 0x64], 1_000)
            tags = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0x1F, 0x20] + picture
        }
        let media = try inspect(GeneratedMedia.file("tags.mp3", bytes: constantMP3() + tags), as: .mp3)
        #expect(media.damage == nil && abs((media.duration ?? 0) - 5) < 0.1)
    }

    @Test(arguments: [1, 2, 3]) func `A WAV that ends inside a sample is intact`(missing: Int) throws {
        var bytes = [UInt8](try Data(contentsOf: GeneratedMedia.numbered("part.wav", "-vn -ac 2 -bitexact")))
        let data = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound
        bytes.removeLast(missing)
        bytes.replaceSubrange(data..<data + 4, with: MediaBytes.littleEndian(bytes.count - data - 4, 4))
        bytes.replaceSubrange(4..<8, with: MediaBytes.littleEndian(bytes.count - 8, 4))
        #expect(try inspect(GeneratedMedia.file("part.wav", bytes: bytes)).damage == nil)
    }

    @Test func `A group of frames that an edit list hides is no damage`() throws {
        let source = try GeneratedMedia.numbered(
            "hidden.mp4", "-c:v libx264 -pix_fmt yuv420p -g 25 -sc_threshold 0 -bf 0 -an")
        var bytes = [UInt8](try Data(contentsOf: source))
        // The edit ends where the last group begins.
        let list = try #require(bytes.firstRange(of: Array("elst".utf8))).upperBound
        bytes.replaceSubrange(list + 8..<list + 12, with: MediaBytes.bigEndian(4_000, 4))
        let media = try inspect(GeneratedMedia.file("hidden.mp4", bytes: bytes))
        #expect(media.damage == nil && abs((media.duration ?? 0) - 4) < 0.05)
    }

    @Test func `Whether H.264 needs its first packet is known before a frame is decoded`() throws {
        for (pixels, isNeeded) in [("yuv444p", true), ("yuv420p", false)] {
            let file = try GeneratedMedia.numbered("first.mp4", "-t 1 -c:v libx264 -pix_fmt \(pixels) -an")
            let stream = try withDescriptor(file) {
                try OpenMovie.open(
                    $0, format: nil, isRecognized: true, isForValidation: true, deadline: .now + .seconds(60)
                ).video
            }
            #expect(stream?.pixelFormat == nil)
            #expect(try FrameSearch.needsFirstPacket(#require(stream)) == isNeeded)
        }
    }
}
