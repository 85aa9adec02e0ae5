import RichPush
import Testing

struct TypeNotationTests {
    typealias Row = (notation: TypeNotation, found: String?, type: AttachmentType, written: String?)

    static let own: TypeNotation = .keywords([
        TypeKeyword("image", .image), TypeKeyword("video", .movie), TypeKeyword("audio", .audio),
        TypeKeyword("gif", .gif),
    ])
    static let listed: TypeNotation = .keywordsOrUTI([
        TypeKeyword("jpeg", .jpeg), TypeKeyword("jpg", .jpeg), TypeKeyword("mpeg4", .mpeg4), TypeKeyword("png", .png),
    ])

    static let rows: [Row] = [
        (.none, nil, .png, nil), (.none, "jpg", .png, nil),
        (.any, nil, .png, nil),
        (.any, "jpg", .png, "png"), (.any, "JPG", .png, "PNG"), (.any, ".webp", .png, ".png"),
        (.any, ".WEBP", .jpeg, ".JPG"), (.any, "jpeg", .jpeg, "jpeg"), (.any, "Jpeg", .jpeg, "Jpeg"),
        (.any, "image/webp", .png, "image/png"), (.any, "image/png; q=1", .png, "image/png; q=1"),
        (.any, "image/jpg", .jpeg, "image/jpeg"), (.any, "video/quicktime", .mpeg4, "video/mp4"),
        (.any, "public.heic", .jpeg, "public.jpeg"), (.any, "com.apple.m4a-audio", .mpeg4Audio, "public.mpeg-4-audio"),
        (.any, "org.example.own", .gif, "com.compuserve.gif"),
        (.any, "photo", .jpeg, "photo"), (.any, "photo", .mpeg4, "video"), (.any, "MOVIE", .jpeg, "IMAGE"),
        (.any, "movie", .mpeg4, "movie"), (.any, "Video", .mp3, "Audio"), (.any, "gif", .mpeg4, "mp4"),
        (.any, "banner", .mpeg4, nil), (.any, "v1.2", .mpeg4, nil), (.any, "", .mpeg4, nil),
        (.any, "application/octet-stream", .mpeg4, "video/mp4"),
        (.fileExtension(standard: nil), nil, .jpeg, "jpg"), (.fileExtension(standard: "jpg"), nil, .jpeg, nil),
        (.fileExtension(standard: "jpg"), nil, .png, "png"), (.fileExtension(standard: nil), "webp", .jpeg, "jpg"),
        (.fileExtension(standard: nil), "image/webp", .jpeg, "jpg"),
        (.fileExtension(standard: nil), "image", .gif, "gif"),
        (.fileExtension(standard: nil), "jpeg", .jpeg, "jpeg"),
        (own, nil, .jpeg, "image"), (own, "image", .jpeg, "image"), (own, "image", .gif, "gif"),
        (own, "gif", .jpeg, "image"), (own, "gif", .mpeg4, "video"), (own, "IMAGE", .mpeg4, "VIDEO"),
        (own, "image/jpeg", .jpeg, "image"), (own, "audio", .mp3, "audio"),
        (listed, nil, .jpeg, nil), (listed, "jpg", .jpeg, "jpg"), (listed, "png", .jpeg, "jpeg"),
        (listed, "jpeg", .mpeg4, "mpeg4"), (listed, "public.png", .jpeg, "public.jpeg"),
        (listed, "jpeg", .mp3, "public.mp3"),
    ]

    @Test(arguments: rows) func `A type is written in the notation and letter case of the original`(row: Row) {
        #expect(row.notation.written(row.type, like: row.found) == row.written)
    }
}

struct DeclaredTypeTests {
    typealias Row = (text: String, form: DeclaredType.Form, kind: MediaKind?, format: MediaFormat?)

    static let rows: [Row] = [
        ("image", .keyword, .image, nil), ("Photo", .keyword, .image, nil), ("VIDEO", .keyword, .movie, nil),
        ("movie", .keyword, .movie, nil), ("audio", .keyword, .audio, nil),
        ("gif", .fileExtension, .image, .gif), ("JPG", .fileExtension, .image, .jpeg),
        (".mp3", .fileExtension, .audio, .mp3), (" .Mov ", .fileExtension, .movie, .quickTime),
        ("image/jpeg", .mimeType, .image, .jpeg), ("Image/PNG; charset=binary", .mimeType, .image, .png),
        ("video/mp4;codecs=\"avc1\"", .mimeType, .movie, .mpeg4), ("image/*", .mimeType, .image, nil),
        ("audio/x-m4a", .mimeType, .audio, .mpeg4Audio), ("video/mpeg", .mimeType, .movie, .mpegProgramStream),
        ("audio/mpeg", .mimeType, .audio, .mp3), ("application/json", .mimeType, nil, nil),
        ("public.jpeg", .uti, .image, .jpeg), ("public.image", .uti, .image, nil),
        ("com.apple.m4a-audio", .uti, .audio, .mpeg4Audio), ("com.apple.quicktime-movie", .uti, .movie, .quickTime),
        ("org.3gpp.adaptive-multi-rate-audio", .uti, .audio, .amr), ("public.3gpp2", .uti, .movie, .threeGPP2),
        ("org.example.thing", .uti, nil, nil), ("v1.2", .keyword, nil, nil), ("nonsense", .fileExtension, nil, nil),
        ("", .fileExtension, nil, nil),
        ("aiff", .fileExtension, .audio, .aiff), ("avi", .fileExtension, .movie, .avi),
        ("mpeg", .fileExtension, .movie, .mpegProgramStream), ("mpeg2", .fileExtension, .movie, .mpeg2Video),
        ("mpeg4", .fileExtension, .movie, .mpeg4), ("mpeg4audio", .fileExtension, .audio, .mpeg4Audio),
        ("waveformaudio", .fileExtension, .audio, .wave),
    ]

    @Test(arguments: rows) func `A type is read in every notation`(row: Row) {
        let declared = DeclaredType(row.text)
        #expect(declared.form == row.form)
        #expect(declared.kind == row.kind)
        #expect(declared.format == row.format)
    }

    @Test(arguments: AttachmentType.allCases) func `Every written name of a type is read as that type`(
        type: AttachmentType
    ) {
        #expect(DeclaredType(type.uti).attachmentType == type)
        #expect(DeclaredType(type.fileExtension).attachmentType == type)
        #expect(DeclaredType(type.mimeType).kind == type.kind)
    }

    @Test func `A service's own keyword takes precedence over general ones`() {
        #expect(DeclaredType("GIF", keywords: [TypeKeyword("gif", .gif)]).form == .keyword)
        #expect(DeclaredType("gif", keywords: [TypeKeyword("gif", .gif)]).format == .gif)
    }
}
