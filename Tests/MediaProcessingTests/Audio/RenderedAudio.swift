import Foundation
import Glibc
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport

/// One audio conversion by the processor, as a media process does it, inspected with FFmpeg's programs.
struct RenderedAudio {
    let media: RenderedMedia
    let file: URL
    private let folder: TemporaryFolder

    init(_ source: URL, _ format: MediaFormat, _ rendition: AudioRendition, seconds: Double = 60) throws {
        var request = RenderRequest(format: format, frameSelection: .coverArt)
        request.attachment = .audio(rendition)
        folder = try TemporaryFolder()
        file = URL(fileURLWithPath: folder.path("audio.m4a"))
        let output = open(file.path, O_RDWR | O_CREAT, 0o644)
        defer { close(output) }
        let answer = try withDescriptor(source) { input in
            try MediaProcessor().perform(
                .render(request), descriptors: [input, output], deadline: .now + .seconds(seconds))
        }
        guard case .rendered(let media) = answer else {
            throw GeneratedMedia.FixtureError(description: "no render: \(answer)")
        }
        self.media = media
    }

    init(
        _ fixture: MovieFixture, as format: AudioRendition.Format = .m4a, bytesMax: Int = Limits.audioBytesMax,
        copies: Bool = false
    ) throws {
        try self.init(fixture.file(), fixture.format, AudioRendition(format, bytesMax: bytesMax, copies: copies))
    }

    /// Bytes of the file on disk.
    var bytes: Int { get throws { try Data(contentsOf: file).count } }

    /// What `ffprobe` reports about the file and its only stream.
    struct Probe: Decodable {
        struct Stream: Decodable {
            let codec_name: String
            let channels: Int
            let sample_rate: String
        }

        struct Format: Decodable {
            let duration: String
            let format_name: String
            let tags: [String: String]?
        }

        let streams: [Stream]
        let format: Format

        var codec: String { streams.map(\.codec_name).joined(separator: ",") }
        var channels: Int { streams.first?.channels ?? 0 }
        var sampleRate: Int { streams.first.flatMap { Int($0.sample_rate) } ?? 0 }
        var duration: Double { Double(format.duration) ?? 0 }
        var brand: String? { format.tags?["major_brand"]?.trimmingCharacters(in: .whitespaces) }
    }

    func probe() throws -> Probe {
        let output = try GeneratedMedia.run(
            "ffprobe", ["-v", "error", "-show_format", "-show_streams", "-of", "json", file.path])
        return try JSONDecoder().decode(Probe.self, from: output)
    }

    var duration: Double { get throws { try probe().duration } }

    /// Warnings of FFmpeg for a full decode; empty for a valid file.
    func decodeWarnings() throws -> String {
        let result = try RunCommand("ffmpeg", ["-v", "warning", "-i", file.path, "-f", "null", "-"]).runBlocking()
        return result.errorText
    }

    /// Decoded samples, mixed to mono at 48 kHz.
    func samples() throws -> [Float] { try Self.samples(of: file) }

    static func samples(of file: URL) throws -> [Float] {
        let data = try GeneratedMedia.run(
            "ffmpeg", ["-v", "error", "-i", file.path, "-ac", "1", "-ar", "48000", "-f", "f32le", "-"])
        return stride(from: 0, to: data.count - 3, by: 4).map { offset in
            let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(data[offset + $1]) << UInt32($1 * 8) }
            return Float(bitPattern: bits)
        }
    }
}

extension [Float] {
    /// Root mean square of a part; times in seconds at 48 kHz.
    func loudness(_ from: Double, _ to: Double) -> Double {
        let part = self[Swift.min(count, Int(from * 48_000))..<Swift.min(count, Int(to * 48_000))]
        return part.isEmpty ? 0 : (part.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(part.count)).squareRoot()
    }
}
