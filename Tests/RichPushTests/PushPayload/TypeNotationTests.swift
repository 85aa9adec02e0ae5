import PushPayload
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
