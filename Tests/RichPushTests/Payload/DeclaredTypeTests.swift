import RichPush
import Testing

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
