import LibAV
import Magic
import MediaEngine
import Vips

/// What this engine is made of and can do, by asking the libraries: for `attachprep doctor`.
enum EngineDescriber {
    static func describe() -> EngineDescription {
        let libav = LibAV.versions.map { EngineDescription.Library(name: $0.name, version: $0.version) }
        let others = [
            EngineDescription.Library(name: "libvips", version: VipsLibrary.version),
            EngineDescription.Library(name: "libmagic", version: MagicCookie.version),
        ]
        // Bounded: lists.
        return EngineDescription(libraries: others + libav, abilities: pictures + media)
    }

    private static var pictures: [EngineDescription.Ability] {
        let operations = [
            ("read JPEG", "jpegload_source"), ("read PNG", "pngload_source"), ("read GIF", "gifload_source"),
            ("read WebP", "webpload_source"), ("read HEIC and AVIF", "heifload_source"),
            ("read TIFF", "tiffload_source"), ("write JPEG", "jpegsave_buffer"), ("write PNG", "pngsave_buffer"),
            ("colour management", "icc_transform"),
        ]
        return operations.map { name, operation in
            EngineDescription.Ability(
                name: name, isAvailable: VipsLibrary.hasOperation(operation), package: "libvips42")
        }
    }

    private static var media: [EngineDescription.Ability] {
        let decoders = [
            ("read BMP", "bmp"), ("read H.264", "h264"), ("read HEVC", "hevc"), ("read MPEG-4", "mpeg4"),
            ("read MPEG-1", "mpeg1video"), ("read MPEG-2", "mpeg2video"), ("read Motion JPEG", "mjpeg"),
            ("read AV1", "libdav1d"), ("read VP9", "vp9"), ("read AAC", "aac"), ("read ALAC", "alac"),
            ("read MP3", "mp3float"), ("read AC-3", "ac3"), ("read Opus", "opus"), ("read Vorbis", "vorbis"),
            ("read FLAC", "flac"),
        ]
        let encoders = [("write H.264", "libx264"), ("write AAC", "aac")]
        return decoders.map { name, decoder in
            EngineDescription.Ability(
                name: name, isAvailable: LibAV.canDecode(decoder), package: "libavcodec59")
        }
            + encoders.map { name, encoder in
                EngineDescription.Ability(
                    name: name, isAvailable: LibAV.canEncode(encoder), package: "libavcodec59")
            }
    }
}
