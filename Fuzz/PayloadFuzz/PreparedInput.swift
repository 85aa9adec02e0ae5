import AttachPrepModel
import MediaTypes
import PushPayload

/// Creates results of media items from an input.
enum PreparedInput {
    static let all: [PreparedMedia] = [
        .ready(manifest(.jpeg)), .ready(animation), .ready(movie),
        .failed(ManifestError(AttachPrepError(.mediaEmpty, "The file is empty; give another one."))),
        .fallback(manifest(.png)), .untouched,
    ]

    private static let animation: Manifest = {
        var manifest = Self.manifest(.gif)
        manifest.options?.thumbnailTime = .frame(3)
        manifest.options?.thumbnailHidden = true
        return manifest
    }()

    private static let movie: Manifest = {
        var manifest = Self.manifest(.mpeg4)
        manifest.options?.thumbnailTime = .movie(MovieTime(seconds: 2.5))
        manifest.options?.thumbnailClippingRect = try? ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)
        return manifest
    }()

    private static func manifest(_ type: AttachmentType) -> Manifest {
        var manifest = Manifest(
            id: "i", requestDigest: "d", outcome: .passed, source: ManifestSource(url: "https://c/a"))
        var file = ManifestFile(
            file: "attachment", type: type, bytes: 61_220, sha256: String(repeating: "a", count: 64))
        file.url = "https://push.example/i/attachment.\(type.fileExtension)"
        manifest.attachment = file
        manifest.options = AttachmentOptions(typeHint: type.uti)
        return manifest
    }
}
