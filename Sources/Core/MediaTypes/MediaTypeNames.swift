/// Names of media types in lowercase: file extensions, MIME types, uniform type identifiers and keywords.
package enum MediaTypeNames {
    /// Formats by file extension, and by type keyword of Home Assistant.
    package static let extensions = table(\.names)

    /// Keywords of Home Assistant that are not used as file extensions.
    package static let nonExtensionNames: Set<String> = ["waveformaudio", "mpeg4audio", "mpeg4", "mpeg2"]

    /// Formats by uniform type identifier.
    package static let identifiers = table(\.identifiers)

    /// Formats by MIME type without parameters; the first one when several share it: MPEG-1 and MPEG-2 streams do, as
    /// do MP3 and MP2, of which the attachable format comes first.
    package static let mimeTypes = table(\.mimeTypes)

    /// Keywords and UTIs that name only a kind.
    package static let kinds: [String: MediaKind] = [
        "image": .image, "picture": .image, "photo": .image, "img": .image, "pic": .image, "public.image": .image,
        "animation": .image, "video": .movie, "movie": .movie, "film": .movie, "clip": .movie,
        "public.movie": .movie, "public.video": .movie, "public.audiovisual-content": .movie, "audio": .audio,
        "sound": .audio, "music": .audio, "voice": .audio, "public.audio": .audio,
    ]

    private static func table(_ names: (MediaFormat) -> [Substring]) -> [String: MediaFormat] {
        MediaFormat.allCases.reduce(into: [:]) { table, format in
            for name in names(format) where table[String(name)] == nil { table[String(name)] = format }
        }
    }
}
