import Foundation
import TestSupport
import Testing

/// A movie, an audio file or an animation as read by ffprobe and ffmpeg, which are independent of the product.
struct ProbedMedia: Sendable {
    struct Stream: Decodable, Sendable {
        let codec_name: String?
        let codec_type: String
        let profile: String?
        let pix_fmt: String?
        let width, height: Int?
        let channels: Int?
        let nb_read_packets: String?
        let duration: String?
        let codec_tag_string: String?
        let side_data_list: [SideData]?

        struct SideData: Decodable, Sendable {
            let side_data_type: String?
        }
    }

    private struct Format: Decodable {
        let duration: String?
        let tags: [String: String]?
    }

    private struct Report: Decodable {
        let streams: [Stream]
        let format: Format
    }

    let path: String
    let streams: [Stream]
    /// Seconds.
    let duration: Double
    let brand: String?

    init(_ path: String) async throws {
        let result = try await RunCommand(
            "ffprobe",
            ["-v", "error", "-count_packets", "-show_streams", "-show_format", "-of", "json", path]
        ).run()
        let report = try JSONDecoder().decode(Report.self, from: Data(result.text.utf8))
        self.path = path
        streams = report.streams
        duration = report.format.duration.flatMap(Double.init) ?? 0
        brand = report.format.tags?["major_brand"]
    }

    var video: Stream? { streams.first { $0.codec_type == "video" } }
    var audio: Stream? { streams.first { $0.codec_type == "audio" } }
    var frames: Int { video?.nb_read_packets.flatMap(Int.init) ?? 0 }
    var isRotated: Bool { video?.side_data_list?.contains { $0.side_data_type == "Display Matrix" } ?? false }

    /// The warnings of ffmpeg in a full decode; empty for an intact file.
    func warnings() async throws -> String {
        try await RunCommand("ffmpeg", ["-v", "warning", "-i", path, "-f", "null", "-"]).run().errorText
    }

    /// A digest of each stream's packets, to compare two files bit by bit.
    static func packetDigests(_ path: String, seconds: Double? = nil) async throws -> [String] {
        let result = try await RunCommand(
            "ffmpeg",
            ["-v", "error", "-i", path, "-map", "0:v?", "-map", "0:a?", "-c", "copy"]
                + ["-f", "streamhash", "-hash", "md5", "-"]
        ).run()
        return result.lines
    }

    /// Whether the index precedes the samples, so that playback can start before the whole file has arrived.
    func beginsWithIndex() throws -> Bool {
        let bytes = try Data(contentsOf: URL(filePath: path))
        guard let index = bytes.range(of: Data("moov".utf8)), let samples = bytes.range(of: Data("mdat".utf8)) else {
            return false
        }
        return index.lowerBound < samples.lowerBound
    }
}
