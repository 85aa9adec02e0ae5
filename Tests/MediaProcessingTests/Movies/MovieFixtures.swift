import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// A movie or audio file made from `GeneratedMedia.numbered`, and its format.
struct MovieFixture: Sendable, CustomStringConvertible {
    let name: String
    let format: MediaFormat
    let arguments: String

    init(_ name: String, _ format: MediaFormat, _ arguments: String) {
        self.name = name
        self.format = format
        self.arguments = arguments
    }

    var description: String { name }

    func file() throws -> URL { try GeneratedMedia.numbered(name, arguments) }

    private static let h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 25 -bf 3"

    /// Movies that iOS attaches.
    static let attachableMovies = [
        MovieFixture("x264.mp4", .mpeg4, "\(h264) -c:a aac"),
        MovieFixture("faststart.mp4", .mpeg4, "\(h264) -c:a aac -movflags +faststart"),
        MovieFixture("fragmented.mp4", .mpeg4, "\(h264) -c:a aac -movflags frag_keyframe+empty_moov+default_base_moof"),
        MovieFixture("long.mp4", .mpeg4, "-c:v libx264 -pix_fmt yuv420p -g 9999 -sc_threshold 0 -bf 3 -an"),
        MovieFixture("open.mp4", .mpeg4, "\(h264) -x264-params open-gop=1:b-pyramid=normal -c:a ac3"),
        MovieFixture("refresh.mp4", .mpeg4, "-c:v libx264 -pix_fmt yuv420p -x264-params intra-refresh=1:keyint=25 -an"),
        MovieFixture("interlaced.mp4", .mpeg4, "\(h264) -flags +ildct+ilme -x264-params tff=1 -c:a aac"),
        MovieFixture(
            "hvc1.mp4", .mpeg4, "-c:v libx265 -x265-params log-level=none -tag:v hvc1 -pix_fmt yuv420p -c:a aac"),
        MovieFixture("xvid.avi", .avi, "-c:v mpeg4 -vtag xvid -bf 2 -g 25 -q:v 2 -c:a libmp3lame"),
        MovieFixture("pcm.avi", .avi, "-c:v mpeg4 -g 25 -q:v 2 -c:a pcm_s16le"),
        MovieFixture("mjpeg.avi", .avi, "-c:v mjpeg -q:v 2 -c:a pcm_s16le"),
        MovieFixture("h264.avi", .avi, "\(h264) -c:a ac3"),
        MovieFixture("mpeg2.mpg", .mpegProgramStream, "-c:v mpeg2video -bf 2 -g 15 -q:v 2 -c:a mp2 -f vob"),
        MovieFixture("mpeg1.mpg", .mpegProgramStream, "-c:v mpeg1video -bf 2 -g 15 -q:v 2 -c:a mp2"),
        MovieFixture("bare.m2v", .mpeg2Video, "-c:v mpeg2video -bf 2 -g 15 -q:v 2 -an"),
        MovieFixture("bare.m1v", .mpeg1Video, "-c:v mpeg1video -bf 2 -g 15 -q:v 2 -an"),
    ]

    /// Movies that are converted.
    static let otherMovies = [
        MovieFixture(
            "hev1.mp4", .mpeg4, "-c:v libx265 -x265-params log-level=none -tag:v hev1 -pix_fmt yuv420p10le -an"),
        MovieFixture("x264.mov", .quickTime, "\(h264) -c:a aac"),
        MovieFixture("hevc.mov", .quickTime, "-c:v libx265 -x265-params log-level=none:open-gop=1:keyint=25 -an"),
        MovieFixture("prores.mov", .quickTime, "-c:v prores_ks -c:a pcm_s16le"),
        MovieFixture("animation.mov", .quickTime, "-c:v qtrle -c:a pcm_s16le"),
        MovieFixture("x264.3gp", .threeGPP, "\(h264) -c:a aac"),
        MovieFixture("x264.3g2", .threeGPP2, "\(h264) -c:a aac"),
        MovieFixture("x264.m4v", .m4v, "\(h264) -c:a aac -f ipod"),
        MovieFixture("x264.ts", .mpegTransportStream, "\(h264) -c:a aac"),
        MovieFixture("x264.mkv", .matroska, "\(h264) -c:a aac"),
        MovieFixture("vp8.webm", .webm, "-c:v libvpx -g 25 -b:v 1M -auto-alt-ref 1 -lag-in-frames 16 -c:a libvorbis"),
        MovieFixture("vp9.webm", .webm, "-c:v libvpx-vp9 -g 25 -b:v 1M -cpu-used 8 -deadline realtime -c:a libopus"),
        MovieFixture("flv1.flv", .flashVideo, "-c:v flv1 -q:v 2 -c:a libmp3lame"),
        MovieFixture("wmv2.wmv", .windowsMedia, "-c:v wmv2 -q:v 2 -c:a wmav2"),
        MovieFixture("theora.ogv", .oggVideo, "-c:v libtheora -q:v 8 -c:a libvorbis"),
        MovieFixture("444.mp4", .mpeg4, "-c:v libx264 -pix_fmt yuv444p -g 25 -c:a aac"),
    ]

    /// Audio files that iOS attaches.
    static let attachableAudio = [
        MovieFixture("pcm.wav", .wave, "-vn"),
        MovieFixture("pcm24.wav", .wave, "-vn -c:a pcm_s24le"),
        MovieFixture("adpcm.wav", .wave, "-vn -c:a adpcm_ms"),
        MovieFixture("rf64.wav", .wave, "-vn -rf64 always"),
        MovieFixture("pcm.aiff", .aiff, "-vn"),
        MovieFixture("constant.mp3", .mp3, "-vn -c:a libmp3lame -b:a 128k"),
        MovieFixture("variable.mp3", .mp3, "-vn -c:a libmp3lame -q:a 3 -ac 2 -joint_stereo 1"),
        MovieFixture("bare.mp3", .mp3, "-vn -c:a libmp3lame -b:a 128k -write_xing 0 -id3v2_version 0"),
        MovieFixture("slow.mp3", .mp3, "-vn -ar 8000 -ac 1 -c:a libmp3lame -b:a 16k -write_id3v1 1"),
        MovieFixture("aac.m4a", .mpeg4Audio, "-vn -c:a aac"),
        MovieFixture("alac.m4a", .mpeg4Audio, "-vn -c:a alac"),
        MovieFixture("sound.mp4", .mpeg4Audio, "-vn -c:a aac"),
    ]

    /// Audio files that are converted.
    static let otherAudio = [
        MovieFixture("layer2.mp2", .mp2, "-vn -c:a mp2"), MovieFixture("raw.aac", .aac, "-vn -c:a aac"),
        MovieFixture("dolby.ac3", .ac3, "-vn -c:a ac3"), MovieFixture("dolby.eac3", .eac3, "-vn -c:a eac3"),
        MovieFixture("free.flac", .flac, "-vn -c:a flac"), MovieFixture("flac.ogg", .flac, "-vn -c:a flac"),
        MovieFixture("vorbis.ogg", .vorbis, "-vn -c:a libvorbis"), MovieFixture("opus.opus", .opus, "-vn -c:a libopus"),
        MovieFixture("speex.spx", .speex, "-vn -c:a libspeex -ar 16000"), MovieFixture("sun.au", .au, "-vn"),
        MovieFixture("core.caf", .caf, "-vn -c:a alac"), MovieFixture("sowt.aif", .aifc, "-vn -c:a pcm_s16le"),
        MovieFixture("pack.wv", .wavPack, "-vn -c:a wavpack"), MovieFixture("true.tta", .trueAudio, "-vn -c:a tta"),
        MovieFixture("sony.w64", .wave64, "-vn -f w64"), MovieFixture("sound.mov", .quickTimeAudio, "-vn -c:a aac"),
        MovieFixture("sound.mka", .matroskaAudio, "-vn -c:a libopus"),
        MovieFixture("sound.wma", .windowsMediaAudio, "-vn -c:a wmav2"),
        MovieFixture("sound.3gp", .threeGPPAudio, "-vn -ac 1 -c:a aac"),
    ]

    static let all = attachableMovies + otherMovies + attachableAudio + otherAudio
}

/// Inspects a file as a media process does.
func inspect(_ file: URL, as format: MediaFormat? = nil) throws -> InspectedMedia {
    try withDescriptor(file) {
        try MovieInspection.inspect(descriptor: $0, format: format, deadline: .now + .seconds(60))
    }
}

/// The frame at a time, and the number that is drawn on it.
func frame(_ file: URL, at seconds: Double, largestSide: Int? = nil) throws -> (number: Int, frame: DecodedFrame) {
    let request = largestSide.map { side in
        var request = RenderRequest(format: .mpeg4, frameSelection: .movieTime(seconds))
        request.thumbnail = ThumbnailRendition(width: side, height: side, fit: .contain)
        return request
    }
    let decoded = try withDescriptor(file) {
        try FrameExtractor.decode(
            descriptor: $0, format: nil, at: seconds, for: request,
            clock: WorkClock(deadline: .now + .seconds(60)))
    }
    let number = GeneratedMedia.frameNumber(
        width: decoded.width, height: decoded.height, bands: decoded.bands, bytes: decoded.bytes)
    return (number, decoded)
}

/// A movie whose track header has one of the eight matrices; ffmpeg 5.1 writes only four of them.
enum OrientedMovie {
    static func file(_ orientation: Orientation) throws -> URL {
        var bytes = [UInt8](
            try Data(contentsOf: GeneratedMedia.numbered("upright.mp4", "-t 1 -an -c:v libx264 -pix_fmt yuv420p")))
        let header = try #require(bytes.firstRange(of: Array("tkhd".utf8)))
        let matrix = header.upperBound + 40
        for (index, value) in fields(orientation).enumerated() {
            bytes.replaceSubrange(
                matrix + index * 4..<matrix + index * 4 + 4, with: ParserBytes.bigEndian(value << 16, 4))
        }
        return try GeneratedMedia.file("oriented.mp4", bytes: bytes)
    }

    /// a, b, u, c, d.
    private static func fields(_ orientation: Orientation) -> [Int] {
        switch orientation {
        case .upright: [1, 0, 0, 0, 1]
        case .mirrored: [-1, 0, 0, 0, 1]
        case .rotated180: [-1, 0, 0, 0, -1]
        case .mirroredRotated180: [1, 0, 0, 0, -1]
        case .transposed: [0, 1, 0, 1, 0]
        case .rotated90: [0, 1, 0, -1, 0]
        case .transversed: [0, -1, 0, -1, 0]
        case .rotated270: [0, -1, 0, 1, 0]
        }
    }
}
