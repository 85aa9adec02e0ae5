import Foundation
import TestSupport

/// Small files of every format, which a mutation run damages: the samples, and generated files of other formats.
enum MutationSeeds {
    static func all() throws -> [(name: String, bytes: [UInt8])] {
        let samples = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
            .filter { !["empty.png", "truncated.jpg", "arrow.svg", "picture.jpg"].contains($0) }
        let files = samples.map { ($0, URL(filePath: SourceTree.sample($0))) }
        let made = try generated.map { ($0.name, try movie($0.name, $0.arguments)) } + stills()
        return try (files + made).map { (name: $0.0, bytes: [UInt8](try Data(contentsOf: $0.1))) }
    }

    /// One second, 96 x 64 pixels, with a tone.
    private static func movie(_ name: String, _ arguments: String) throws -> URL {
        let frames = "testsrc=s=96x64:r=12:d=1"
        return try GeneratedMedia.file(
            name,
            ["-f", "lavfi", "-i", frames, "-f", "lavfi", "-i", "sine=440:d=1:r=22050"]
                + arguments.split(separator: " ").map(String.init))
    }

    private static let h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 6"

    private static let generated: [(name: String, arguments: String)] = [
        ("fragments.mp4", "\(h264) -c:a aac -movflags frag_keyframe+empty_moov"),
        ("front.mp4", "\(h264) -c:a ac3 -movflags +faststart"),
        ("hevc.mov", "-c:v libx265 -x265-params log-level=none"),
        ("prores.mov", "-c:v prores_ks -c:a pcm_s16le"), ("animation.mov", "-c:v qtrle -an"),
        ("motion.avi", "-c:v mjpeg -c:a pcm_s16le"), ("divx.avi", "-c:v msmpeg4 -c:a libmp3lame"),
        ("windows.wmv", "-c:v wmv2 -c:a wmav2"), ("flash.flv", "-c:v flv1 -c:a libmp3lame"),
        ("theora.ogv", "-c:v libtheora -c:a libvorbis"), ("vp8.webm", "-c:v libvpx -b:v 200k -c:a libopus"),
        ("vp9.mkv", "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime -b:v 200k -c:a flac"),
        ("av1.mp4", "-t 0.5 -c:v libaom-av1 -cpu-used 8 -an"), ("mpeg1.mpg", "-r 25 -c:v mpeg1video -c:a mp2"),
        ("camera.avi", "-t 0.08 -s 720x576 -r 25 -pix_fmt yuv420p -c:v dvvideo -an"),
        ("alac.m4a", "-vn -c:a alac"), ("dolby.ac3", "-vn -c:a ac3"), ("raw.aac", "-vn -c:a aac"),
        ("adpcm.wav", "-vn -c:a adpcm_ms"), ("sun.au", "-vn"), ("pack.wv", "-vn -c:a wavpack"),
        ("true.tta", "-vn -c:a tta"), ("wave.w64", "-vn"), ("speech.spx", "-vn -c:a libspeex -ar 16000"),
        ("bare.mp3", "-vn -c:a libmp3lame -write_xing 0 -id3v2_version 0"),
        ("latm.ts", "-vn -c:a aac -mpegts_flags latm"),
    ]

    private static func stills() throws -> [(String, URL)] {
        let kinds: [(name: String, arguments: [String])] = [
            ("progressive.jpg", ["-interlace", "JPEG"]), ("gray.jpg", ["-colorspace", "Gray"]),
            ("palette.png", ["-type", "Palette"]), ("interlaced.png", ["-interlace", "PNG"]),
            ("deep.png", ["-depth", "16"]), ("lossless.webp", ["-define", "webp:lossless=true"]),
            ("lzw.tiff", ["-compress", "LZW"]), ("zip.tiff", ["-compress", "Zip"]),
            ("jpeg.tiff", ["-compress", "JPEG"]),
            ("tiles.tiff", ["-define", "tiff:tile-geometry=64x64"]),
            ("fax.tiff", ["-monochrome", "-compress", "Group4"]),
            ("runs.bmp", ["-type", "Palette", "-compress", "RLE"]), ("interlaced.gif", ["-interlace", "GIF"]),
        ]
        return try kinds.map { kind in
            let file = GeneratedMedia.folder.appendingPathComponent("seed-\(kind.name)")
            try GeneratedMedia.run(
                "convert", [SourceTree.sample("grid.png"), "-resize", "120x120"] + kind.arguments + [file.path])
            return (kind.name, file)
        }
    }
}
