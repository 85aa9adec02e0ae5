import Foundation
import Glibc
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport

/// One movie encoded or copied by the processor, as a media process does it, inspected with FFmpeg's programs.
struct RenderedMovie {
    let media: RenderedMedia
    let file: URL

    /// - Parameter source: A movie or an animation.
    init(
        _ source: URL, format: MediaFormat = .quickTime, copies: Bool = false, bytesMax: Int = Limits.movieBytesMax,
        frameSelection: FrameSelection = .movieTime(0), budget: Double = 60,
        adjust: (inout MovieRendition) -> Void = { _ in }
    ) throws {
        var rendition = MovieRendition(bytesMax: bytesMax, copiesVideo: copies, copiesAudio: copies)
        adjust(&rendition)
        var request = RenderRequest(format: format, frameSelection: frameSelection)
        request.attachment = .movie(rendition)
        file = try GeneratedMedia.file("movie.mp4", bytes: [])
        let descriptors = [open(source.path, O_RDONLY), open(file.path, O_RDWR)]
        defer { for descriptor in descriptors { close(descriptor) } }
        let answer = try MediaProcessor().perform(
            .render(request), descriptors: descriptors, deadline: .now + .seconds(budget))
        guard case .rendered(let media) = answer else {
            throw GeneratedMedia.FixtureError(description: "no render: \(answer)")
        }
        self.media = media
    }

    init(_ fixture: MovieFixture, copies: Bool = false) throws {
        try self.init(try fixture.file(), format: fixture.format, copies: copies)
    }

    /// The bytes of the file.
    var bytes: [UInt8] { get throws { try [UInt8](Data(contentsOf: file)) } }

    /// What ffprobe reports about a stream: `v` or `a`.
    func probe(_ stream: String, _ entries: String) throws -> [String: String] {
        try MovieProbe.stream(file, stream, entries)
    }

    /// Warnings of FFmpeg for a full decode; empty for a valid file.
    func decodeWarnings() throws -> String {
        try RunCommand("ffmpeg", ["-v", "warning", "-nostdin", "-i", file.path, "-f", "null", "-"]).runBlocking()
            .errorText
    }

    /// Presentation times of all frames, in seconds.
    func times() throws -> [Double] { try MovieProbe.times(file) }
}

/// Facts about any file, from ffprobe and ffmpeg.
enum MovieProbe {
    static func stream(_ file: URL, _ stream: String, _ entries: String) throws -> [String: String] {
        let output = try GeneratedMedia.run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "\(stream):0", "-show_entries", "stream=\(entries)", "-of",
                "default=nw=1", file.path,
            ])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            }, uniquingKeysWith: { first, _ in first })
    }

    static func times(_ file: URL) throws -> [Double] {
        let output = try GeneratedMedia.run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time", "-of",
                "csv=p=0",
                file.path,
            ])
        return String(decoding: output, as: UTF8.self).split(separator: "\n")
            .compactMap { Double($0.split(separator: ",").first ?? "") }
    }

    /// Start time of the container in seconds, which ffmpeg subtracts from all times.
    static func startTime(_ file: URL) throws -> Double {
        let output = try GeneratedMedia.run(
            "ffprobe", ["-v", "error", "-show_entries", "format=start_time", "-of", "csv=p=0", file.path])
        return Double(String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// Digest of the decoded frames.
    static func videoDigest(_ file: URL) throws -> String {
        let output = try GeneratedMedia.run(
            "ffmpeg", ["-v", "error", "-i", file.path, "-map", "0:v:0", "-vsync", "passthrough", "-f", "md5", "-"])
        return String(decoding: output, as: UTF8.self)
    }

    /// Digest of the audio packets.
    static func audioDigest(_ file: URL) throws -> String {
        let output = try GeneratedMedia.run(
            "ffmpeg", ["-v", "error", "-i", file.path, "-map", "0:a:0", "-c", "copy", "-f", "md5", "-"])
        return String(decoding: output, as: UTF8.self)
    }

    /// Seconds at which a white frame and at which a tone begins, in a movie of flash and beep.
    static func onsets(_ file: URL) throws -> (video: Double, audio: Double) {
        // AVI stores no frame times, only their order.
        let isCounted = file.pathExtension == "avi"
        let start = try startTime(file)
        let times = try times(file).enumerated().map { isCounted ? Double($0.offset) / 25 : $0.element - start }
        let luma = try GeneratedMedia.run(
            "ffmpeg",
            [
                "-v", "error", "-i", file.path, "-map", "0:v:0", "-vsync", "passthrough", "-vf", "scale=1:1",
                "-pix_fmt", "gray", "-f", "rawvideo", "-",
            ])
        let samples = try GeneratedMedia.run(
            "ffmpeg",
            [
                "-v", "error", "-i", file.path, "-map", "0:a:0", "-af", "aresample=async=1:first_pts=0", "-ac", "1",
                "-ar", "8000", "-f", "s16le", "-",
            ])
        guard let flash = luma.firstIndex(where: { $0 > 128 }), flash < times.count else {
            throw GeneratedMedia.FixtureError(description: "no flash in \(file.path)")
        }
        let loud = stride(from: 0, to: samples.count - 1, by: 2).first { index in
            abs(Int(Int16(truncatingIfNeeded: Int(samples[index]) | Int(samples[index + 1]) << 8))) > 2_000
        }
        guard let loud else { throw GeneratedMedia.FixtureError(description: "no beep in \(file.path)") }
        return (times[flash], Double(loud / 2) / 8_000)
    }
}
