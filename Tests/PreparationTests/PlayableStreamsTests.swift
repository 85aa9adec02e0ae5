import AttachPrep
import Foundation
import MediaEngine
import MediaProcessing
import TestSupport
import Testing

/// Every encoder, profile and pixel format that FFmpeg can write into a container that iOS attaches, against the table
/// of what iOS plays.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"), .timeLimit(.minutes(30)))
struct PlayableStreamsTests {
    private static let depths = ["", "10le", "12le"]
    private static let pixelFormats =
        ["yuv420p", "yuv422p", "yuv444p", "gray"].flatMap { name in depths.map { name + $0 } } + [
            "yuvj420p", "yuvj422p",
        ]
    private static let video: [(container: String, encoder: String, profiles: [String])] = [
        ("mp4", "libx264", ["baseline", "main", "high", "high10", "high422", "high444"]),
        ("mp4", "libx265 -tag:v hvc1 -x265-params log-level=none", ["-"]), ("mp4", "mpeg4", ["-"]),
        ("avi", "libx264", ["main", "high444"]), ("avi", "mpeg4", ["-"]), ("avi", "mjpeg", ["-"]),
        ("mpg", "mpeg1video", ["-"]), ("mpg", "mpeg2video", ["-"]),
    ]
    private static let playedVideo: Set<String> = [
        "mp4 h264 yuv420p", "mp4 h264 yuvj420p", "mp4 hevc yuv420p", "mp4 hevc yuvj420p", "mp4 hevc yuv420p10le",
        "avi h264 yuv420p", "avi h264 yuvj420p", "avi mpeg4 yuv420p", "avi mjpeg yuvj420p", "avi mjpeg yuvj422p",
        "mpg mpeg1video yuv420p", "mpg mpeg2video yuv420p",
    ]
    private static let audio = [
        "aac", "aac -profile:a aac_main", "aac -profile:a aac_ltp", "alac", "ac3", "eac3", "libmp3lame", "mp2", "flac",
        "libopus", "wmav2", "pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le",
        "pcm_f32le", "pcm_f64le", "pcm_alaw", "pcm_mulaw", "adpcm_ms", "adpcm_ima_wav", "adpcm_yamaha",
    ]
    private static let playedAudio: [String: Set<String>] = [
        // MPEG-4 has one type for all layers of MPEG-1 audio, which Core Audio decodes alike.
        "m4a": ["aac", "alac", "ac3", "libmp3lame", "mp2"], "aiff": ["pcm_s8", "pcm_s16be", "pcm_s24be"],
        "wav": [
            "pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le", "pcm_alaw", "pcm_mulaw",
            "adpcm_ms", "adpcm_ima_wav",
        ],
    ]

    private func isAttachable(_ file: URL) throws -> (InspectedMedia, Bool) {
        let media = try withDescriptor(file) {
            try MovieInspection.inspect(descriptor: $0, format: nil, deadline: .now + .seconds(60))
        }
        if case .attachable = Attachability(media) { return (media, true) }
        return (media, false)
    }

    @Test func `Video is delivered unchanged only in what iOS plays`() throws {
        var (played, tried) = (Set<String>(), 0)
        for row in Self.video {
            for (profile, pixels) in row.profiles.flatMap({ one in Self.pixelFormats.map { (one, $0) } }) {
                let option = profile == "-" ? "" : " -profile:v \(profile)"
                let name = "\(row.encoder.split(separator: " ")[0])-\(profile)-\(pixels).\(row.container)"
                // An encoder that does not support the pair writes nothing.
                guard
                    let file = try? GeneratedMedia.numbered(
                        name, "-t 0.4 -an -c:v \(row.encoder)\(option) -pix_fmt \(pixels)"),
                    let (media, isPlayed) = try? isAttachable(file), let video = media.video
                else { continue }
                tried += 1
                let key = "\(row.container) \(video.codec) \(video.pixelFormat ?? "")"
                if isPlayed { played.insert(key) }
                #expect(!isPlayed || Self.playedVideo.contains(key), "\(name): \(video)")
            }
        }
        #expect(
            tried > 30 && played.isSuperset(of: ["mp4 h264 yuv420p", "mp4 hevc yuv420p10le", "avi mjpeg yuvj420p"]))
    }

    @Test func `Audio is delivered unchanged only in what iOS plays`() throws {
        for (container, played) in Self.playedAudio {
            for encoder in Self.audio {
                let name = "\(encoder.replacing(" ", with: "_")).\(container)"
                let options = "-t 1 -vn -strict -2 -c:a \(encoder)\(container == "m4a" ? " -f mp4" : "")"
                guard let file = try? GeneratedMedia.numbered(name, options),
                    let (media, isPlayed) = try? isAttachable(file)
                else { continue }
                #expect(isPlayed == played.contains(encoder), "\(name): \(media.format) \(media.audio)")
            }
        }
    }
}
