import AttachPrep
import AttachPrepModel
import MediaTypes
import Synchronization

/// Returns a fixed manifest, and records the requests.
final class FakePreparer: Sendable {
    private let requests = Mutex<[AttachmentRequest]>([])

    var sources: [String] { requests.withLock { $0.map(\.source) } }
    var ids: [String?] { requests.withLock { $0.map(\.id) } }
    var attachmentTypes: [AcceptedTypes?] { requests.withLock { $0.map(\.attachmentTypes) } }

    /// The source of each request, and its targets beside iOS.
    var named: [String] {
        requests.withLock { $0.map { "\($0.source) \($0.targets.names.joined(separator: ","))" } }
    }

    @Sendable func prepare(_ request: AttachmentRequest) async throws -> Manifest {
        requests.withLock { $0.append(request) }
        await Task.yield()
        var manifest = Manifest(
            id: "a", requestDigest: "d", outcome: .passed, source: ManifestSource(url: request.source))
        var file = ManifestFile(
            file: "attachment.jpg", type: .jpeg, bytes: 7, sha256: String(repeating: "a", count: 64))
        file.url = "https://push.example/a/attachment.jpg"
        manifest.attachment = file
        manifest.options = AttachmentOptions(typeHint: AttachmentType.jpeg.uti)
        return manifest
    }
}
