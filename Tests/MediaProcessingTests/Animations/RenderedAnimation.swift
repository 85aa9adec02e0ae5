import Foundation
import Glibc
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport

/// An animation encoded as GIF by the processor, inspected with ImageMagick and FFmpeg.
struct RenderedAnimation {
    let media: RenderedMedia
    let bytes: [UInt8]
    let path: String

    init(
        _ source: String, format: MediaFormat, bytesMax: Int = Limits.imageBytesMax, longSideMax: Int? = nil,
        frameSelection: FrameSelection = .animationFrame(0), seconds: Double = 60
    ) throws {
        var request = RenderRequest(format: format, frameSelection: frameSelection)
        request.attachment = .animation(AnimationRendition(bytesMax: bytesMax, longSideMax: longSideMax))
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).gif").path
        let input = open(source, O_RDONLY)
        let output = open(path, O_RDWR | O_CREAT, 0o644)
        defer { [input, output].forEach { close($0) } }
        let answer = try MediaProcessor().perform(
            .render(request), descriptors: [input, output], deadline: .now + .seconds(seconds))
        guard case .rendered(let media) = answer else {
            throw GeneratedMedia.FixtureError(description: "no render: \(answer)")
        }
        self.media = media
        bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// One line per frame from ImageMagick's `identify` in the given format.
    func identified(_ format: String) throws -> [String] {
        let result = try RunCommand("identify", ["-format", format + "\n", path]).runBlocking()
        guard result.exitCode == 0, result.errorText.isEmpty else {
            throw GeneratedMedia.FixtureError(description: "identify: \(result.errorText)")
        }
        return result.lines
    }

    /// The composed frames as RGBA, by FFmpeg.
    func frames() throws -> [[UInt8]] { try Self.frames(of: path) }

    static func frames(of path: String) throws -> [[UInt8]] {
        let size = try RunCommand(
            "ffprobe", ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", path]
        ).runBlocking().text.split(separator: "\n")[0].split(separator: ",").compactMap { Int($0) }
        let data = try GeneratedMedia.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", path, "-vsync", "0", "-pix_fmt", "rgba", "-f", "rawvideo", "-"])
        let count = size[0] * size[1] * 4
        return stride(from: 0, to: data.count, by: count).map { [UInt8](data[$0..<$0 + count]) }
    }

    /// Warnings of FFmpeg for a full decode; empty for a valid file.
    func decodeWarnings() throws -> String {
        try RunCommand("ffmpeg", ["-v", "warning", "-nostdin", "-i", path, "-f", "null", "-"]).runBlocking().errorText
    }
}

/// Small animations for tests.
enum AnimationFixture {
    /// Frames of a moving square over a gradient, as lossless video.
    static func moving(count: Int = 6, width: Int = 48, height: Int = 32) throws -> String {
        let name = "moving-\(count)-\(width)x\(height)"
        return try GeneratedMedia.file(
            name + ".mkv",
            [
                "-f", "lavfi", "-i",
                "gradients=s=\(width)x\(height):c0=red:c1=blue:x0=0:y0=0:x1=\(width):y1=\(height):"
                    + "speed=0.00001:seed=1:r=10",
                "-f", "lavfi", "-i", "color=white:s=8x8:r=10", "-filter_complex",
                "[0][1]overlay=x=n*5:y=n*2:shortest=1",
                "-frames:v", "\(count)", "-c:v", "ffv1", "-pix_fmt", "bgr0",
            ]
        ).path
    }

    /// The same frames, encoded by FFmpeg.
    static func gif(_ arguments: [String] = []) throws -> String {
        try GeneratedMedia.file("moving.gif", ["-i", moving()] + arguments).path
    }
    static func apng(plays: Int = 0) throws -> String {
        try GeneratedMedia.file("moving.apng", ["-i", moving(), "-plays", "\(plays)", "-f", "apng"]).path
    }
    static func webP(loop: Int = 0) throws -> String {
        try GeneratedMedia.file(
            "moving.webp", ["-i", moving(), "-c:v", "libwebp_anim", "-lossless", "1", "-loop", "\(loop)"]
        ).path
    }
    /// An AV1 sequence with the brand of AVIF.
    static func avif() throws -> String {
        let movie = try GeneratedMedia.file(
            "moving-av1.mp4", ["-i", moving(count: 4), "-c:v", "libaom-av1", "-crf", "10", "-cpu-used", "8"])
        var bytes = try [UInt8](Data(contentsOf: movie))
        bytes.replaceSubrange(8..<12, with: Array("avis".utf8))
        return try GeneratedMedia.file("moving.avif", bytes: bytes).path
    }
    /// Noise, which does not compress.
    static func noise(count: Int = 5, side: Int = 24) throws -> String {
        try GeneratedMedia.file(
            "noise-\(count)-\(side).apng",
            [
                "-f", "lavfi", "-i", "color=gray:s=\(side)x\(side):r=10,noise=alls=40:allf=t", "-frames:v", "\(count)",
                "-plays", "0", "-f", "apng",
            ]
        ).path
    }
}
