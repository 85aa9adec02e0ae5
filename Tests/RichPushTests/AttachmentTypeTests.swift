import MediaTypes
import Testing

/// The attachment types of `docs/reference/apple-attachment-rules.md` 1.1, row by row.
struct AttachmentTypeTests {
    struct Row: Sendable {
        let type: AttachmentType
        let uti: String
        let file: String
        let mimeType: String
        let kind: MediaKind
        let bytesMax: Int
    }

    static let rows: [Row] = [
        Row(type: .jpeg, uti: "public.jpeg", file: "jpg", mimeType: "image/jpeg", kind: .image, bytesMax: 10_000_000),
        Row(type: .png, uti: "public.png", file: "png", mimeType: "image/png", kind: .image, bytesMax: 10_000_000),
        Row(
            type: .gif, uti: "com.compuserve.gif", file: "gif", mimeType: "image/gif", kind: .image,
            bytesMax: 10_000_000),
        Row(
            type: .aiff, uti: "public.aiff-audio", file: "aiff", mimeType: "audio/aiff", kind: .audio,
            bytesMax: 5_000_000),
        Row(
            type: .wave, uti: "com.microsoft.waveform-audio", file: "wav", mimeType: "audio/wav", kind: .audio,
            bytesMax: 5_000_000),
        Row(type: .mp3, uti: "public.mp3", file: "mp3", mimeType: "audio/mpeg", kind: .audio, bytesMax: 5_000_000),
        Row(
            type: .mpeg4Audio, uti: "public.mpeg-4-audio", file: "m4a", mimeType: "audio/mp4", kind: .audio,
            bytesMax: 5_000_000),
        Row(type: .mpeg, uti: "public.mpeg", file: "mpg", mimeType: "video/mpeg", kind: .movie, bytesMax: 50_000_000),
        Row(
            type: .mpeg2Video, uti: "public.mpeg-2-video", file: "m2v", mimeType: "video/mpeg", kind: .movie,
            bytesMax: 50_000_000),
        Row(type: .mpeg4, uti: "public.mpeg-4", file: "mp4", mimeType: "video/mp4", kind: .movie, bytesMax: 50_000_000),
        Row(
            type: .avi, uti: "public.avi", file: "avi", mimeType: "video/x-msvideo", kind: .movie,
            bytesMax: 50_000_000),
    ]

    @Test(arguments: rows) func `The UTI, extension, MIME type, kind and size limit match Apple's table`(row: Row) {
        #expect(row.type.uti == row.uti)
        #expect(row.type.fileExtension == row.file)
        #expect(row.type.mimeType == row.mimeType)
        #expect(row.type.kind == row.kind)
        #expect(row.type.bytesMax == row.bytesMax)
    }

    @Test func `The table contains exactly the documented types`() {
        #expect(Set(Self.rows.map(\.type)) == Set(AttachmentType.allCases))
    }

    @Test func `A format that iOS accepts but does not document has no attachment type`() {
        let undocumented: [MediaFormat] = [.heic, .aifc, .caf, .amr, .au, .ac3, .eac3, .quickTime, .m4v, .threeGPP]
        #expect(undocumented.allSatisfy { $0.attachmentType == nil })
    }

    @Test(arguments: MediaFormat.allCases) func `A format and its attachment type have the same kind`(
        format: MediaFormat
    ) {
        #expect(format.attachmentType.map(\.kind) ?? format.kind == format.kind)
    }
}
