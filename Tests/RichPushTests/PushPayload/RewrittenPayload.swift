import AttachPrepModel
import PushPayload
import RichPush
import Testing

/// Prepared media for the payload writer.
enum PreparedSample {
    static func manifest(
        _ type: AttachmentType = .jpeg, at name: String = "a", bytes: Int = 61_220, thumbnail: Bool = false,
        renditions: [String] = [], options: (inout AttachmentOptions) -> Void = { _ in }
    ) -> Manifest {
        var manifest = Manifest(
            id: name, requestDigest: "d", outcome: .converted, source: ManifestSource(url: "https://cdn.example/a"))
        var file = ManifestFile(
            file: "attachment.\(type.fileExtension)", type: type, bytes: bytes, sha256: digest(name))
        file.url = "https://push.example/\(name)/attachment.\(type.fileExtension)"
        manifest.attachment = file
        if thumbnail {
            manifest.thumbnail = ManifestImage(
                file: "thumbnail.jpg", mimeType: "image/jpeg", bytes: 9_120, sha256: digest("t" + name), width: 3,
                height: 2, isTimed: true)
            manifest.thumbnail?.url = "https://push.example/\(name)/thumbnail.jpg"
        }
        for key in renditions {
            var rendition = ManifestRendition(
                file: "\(key).jpg", type: "image/jpeg", bytes: 90_000, sha256: digest(key), width: 1_024, height: 512)
            rendition.url = "https://push.example/\(name)/\(key).jpg"
            manifest.renditions = (manifest.renditions ?? [:]).merging([key: rendition]) { $1 }
        }
        var attachmentOptions = AttachmentOptions(typeHint: type.uti)
        options(&attachmentOptions)
        manifest.options = attachmentOptions
        return manifest
    }

    static func ready(
        _ type: AttachmentType = .jpeg, at name: String = "a",
        options: (inout AttachmentOptions) -> Void = { _ in }
    ) -> PreparedMedia {
        .ready(manifest(type, at: name, options: options))
    }

    static let failed = PreparedMedia.failed(
        ManifestError(AttachPrepError(.mediaUnrecognized, "The file is HTML, not media; give the picture's own URL.")))

    static func digest(_ name: String) -> String {
        let digits = name.utf8.reduce("") { $0 + String($1, radix: 16) }
        return String((digits + String(repeating: "0", count: 64)).prefix(64))
    }
}

/// A payload that was read and written back with prepared media.
struct RewrittenPayload {
    let text: String
    let warnings: [PayloadWarning]

    init(
        _ payload: String, dialect: String? = nil, _ prepared: [PreparedMedia], others: [PreparedMedia]? = nil,
        targets: Set<MediaTarget> = [.ios], receipt: PushReceipt? = nil, addsNeutralObject: Bool = true
    ) throws {
        let document = try PayloadDocument(Array(payload.utf8))
        let media = try PayloadReader.media(
            in: document.value, dialect: try dialect.map { try PayloadDialect.named($0) }, targets: targets)
        let written = try PayloadWriter.write(
            document, media: media, prepared: prepared, otherPrepared: others, targets: targets, receipt: receipt,
            addsNeutralObject: addsNeutralObject)
        text = String(decoding: written.bytes, as: UTF8.self)
        warnings = written.warnings
    }

    var value: PayloadValue {
        get throws { try PayloadDocument(Array(text.utf8)).value }
    }

    /// The payload without the neutral object, which must be the last top-level member.
    var withoutNeutralObject: String {
        guard let start = text.range(of: #","attachprep":"#)?.lowerBound else { return text }
        return String(text[..<start]) + "}"
    }
}
