import Foundation

/// HLS streams that `ffmpeg` makes of `GeneratedMedia.numbered`, in a folder of their own: five seconds, 125 frames,
/// each with its number, and a keyframe every second.
package struct HLSStream: Sendable {
    package let folder: TemporaryFolder

    package init() throws { folder = try TemporaryFolder() }

    /// The encoded movie that is cut into segments.
    package static func source(_ arguments: String = standard) throws -> URL {
        try GeneratedMedia.numbered("hls.mkv", arguments)
    }

    /// H.264 with B-frames, and AAC.
    package static let standard = "-c:v libx264 -preset veryfast -g 25 -sc_threshold 0 -bf 2 -pix_fmt yuv420p -c:a aac"

    /// Cuts a movie into the segments of `name`.m3u8, one second each unless the arguments say otherwise.
    @discardableResult
    package func cut(
        _ name: String = "list", of source: URL? = nil, input: String = "", _ arguments: String = ""
    ) throws -> String {
        let playlist = folder.path("\(name).m3u8")
        let file = try source ?? Self.source()
        try GeneratedMedia.run(
            "ffmpeg",
            ["-v", "error", "-y", "-nostdin"] + Self.words(input) + ["-i", file.path, "-c", "copy"]
                + ["-f", "hls", "-hls_time", "1", "-hls_list_size", "0", "-hls_playlist_type", "vod"]
                + ["-hls_fmp4_init_filename", "\(name)-init.mp4"] + Self.words(arguments) + [playlist])
        return playlist
    }

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// The text of a playlist.
    package func text(_ name: String = "list") throws -> String {
        try String(contentsOfFile: folder.path("\(name).m3u8"), encoding: .utf8)
    }

    /// Replaces a playlist.
    package func write(_ text: String, _ name: String = "list") throws {
        try folder.write(text, to: "\(name).m3u8")
    }

    /// Changes the text of a playlist.
    package func edit(_ name: String = "list", _ change: (String) -> String) throws {
        try write(change(text(name)), name)
    }

    /// The entries of a playlist: the tags of each segment with its address.
    package func entries(_ name: String) throws -> [String] {
        let lines = try text(name).split(separator: "\n").map(String.init)
        var entries: [String] = []
        var tags: [String] = []
        for line in lines where line.hasPrefix("#EXTINF") || line.hasPrefix("#EXT-X-BYTERANGE") || !line.hasPrefix("#")
        {
            tags.append(line)
            guard !line.hasPrefix("#") else { continue }
            entries.append(tags.joined(separator: "\n"))
            tags = []
        }
        return entries
    }

    /// Replaces each segment by an encrypted one; `vector` gives the initialization vector of a sequence number.
    package func encrypt(_ files: [String], key: String, vector: (Int) -> String) throws {
        for (number, file) in files.enumerated() {
            let path = folder.path(file)
            try GeneratedMedia.run(
                "openssl",
                ["enc", "-aes-128-cbc", "-K", key, "-iv", vector(number), "-in", path, "-out", path + ".aes"])
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + ".aes", toPath: path)
        }
    }

    /// Serves the folder's files, with ranges if `hasRanges`.
    package func serve(on server: LoopbackServer, hasRanges: Bool = true) throws {
        for name in try folder.contents() {
            guard let body = FileManager.default.contents(atPath: folder.path(name)) else { continue }
            server.serve("/\(name)") { request in
                guard hasRanges, let range = request.headers["range"]?.dropFirst("bytes=".count),
                    let first = range.split(separator: "-").first.flatMap({ Int($0) }),
                    let last = range.split(separator: "-").last.flatMap({ Int($0) }), first <= last, last < body.count
                else {
                    return .body(body, type: name.hasSuffix("m3u8") ? "application/vnd.apple.mpegurl" : "video/mp2t")
                }
                let part = Data(body[first...last])
                return .status(206, ["Content-Range": "bytes \(first)-\(last)/\(body.count)"], part)
            }
        }
    }
}

/// A frame of a movie made from `GeneratedMedia.numbered`.
package struct NumberedFrame: Sendable, Hashable {
    package let seconds: Double
    package let number: Int

    /// All frames of a movie or playlist, decoded by `ffmpeg`.
    package static func all(of path: String, width: Int = 320, height: Int = 240) throws -> [NumberedFrame] {
        let input = ["-allowed_extensions", "ALL"]
        let options = path.hasSuffix("m3u8") ? input : []
        let times = try GeneratedMedia.run(
            "ffprobe",
            ["-v", "error"] + options
                + [
                    "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time", "-of", "csv=p=0",
                    path,
                ])
        let pixels = try GeneratedMedia.run(
            "ffmpeg",
            ["-v", "error", "-nostdin"] + options
                + ["-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-"])
        let seconds = String(decoding: times, as: UTF8.self).split(separator: "\n").compactMap {
            Double($0.split(separator: ",")[0])
        }
        let bytes = [UInt8](pixels)
        let size = width * height
        return (0..<min(seconds.count, bytes.count / size)).map { index in
            let frame = Array(bytes[index * size..<(index + 1) * size])
            return NumberedFrame(
                seconds: seconds[index],
                number: GeneratedMedia.frameNumber(width: width, height: height, bands: 1, bytes: frame))
        }
    }
}
