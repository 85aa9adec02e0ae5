import AttachPrepModel
import Glibc
import RichPush
import SealedMedia

/// Replaces the files of a result by sealed ones, all with one secret that was never used before.
struct ResultSealing: Sendable {
    let staging: StagingFolder
    let target: any PublishTarget
    private let secret = SealedSecret.make()

    init(staging: StagingFolder, target: any PublishTarget) {
        (self.staging, self.target) = (staging, target)
    }

    /// The manifest of the sealed files, which are then the only files of the staging folder.
    ///
    /// - Throws: `output.no_space`, `output.not_writable`, `internal`.
    func seal(_ manifest: Manifest) throws -> Manifest {
        var sealed = manifest
        sealed.sealed = ManifestSeal(version: Int(SealedLayout.version), secret: secret)
        sealed.attachment = try manifest.attachment.map { try attachment($0, in: manifest.id) }
        sealed.thumbnail = try manifest.thumbnail.map { try image($0, as: .thumbnail, in: manifest.id) }
        sealed.crop = try manifest.crop.map { try image($0, as: .crop, in: manifest.id) }
        sealed.deviceFetch = sealed.attachment.map { NetworkProfile.deviceFetch(bytes: $0.bytes) }
        return sealed
    }

    private func attachment(_ file: ManifestFile, in id: String) throws -> ManifestFile {
        let content = SealedContent(mimeType: file.mimeType, bytes: file.bytes)
        let written = try write(file.file, content: content, as: .attachment)
        var sealed = file
        (sealed.file, sealed.url) = (written.name, url(of: written, in: id))
        (sealed.bytes, sealed.sha256) = (written.bytes, written.sha256)
        (sealed.mimeType, sealed.sealed) = (Self.mimeType, content)
        return sealed
    }

    private func image(_ image: ManifestImage, as role: SealedRole, in id: String) throws -> ManifestImage {
        let content = SealedContent(mimeType: image.mimeType, bytes: image.bytes)
        let written = try write(image.file, content: content, as: role)
        var sealed = image
        (sealed.file, sealed.url) = (written.name, url(of: written, in: id))
        (sealed.bytes, sealed.sha256) = (written.bytes, written.sha256)
        (sealed.mimeType, sealed.sealed) = (Self.mimeType, content)
        return sealed
    }

    /// All that storage learns of the type of a file.
    private static let mimeType = "application/octet-stream"

    private struct Written {
        let bytes: Int
        let sha256: String

        /// The digest of random bytes, which is as random as they are.
        var name: String { String(sha256.prefix(PublishedFile.pathDigits)) }
    }

    /// Seals a file under a random name and removes its plaintext.
    private func write(_ name: String, content: SealedContent, as role: SealedRole) throws -> Written {
        let working = "\(name).sealed"
        let source = OwnedDescriptor(descriptor: try staging.open(name))
        let target = OwnedDescriptor(descriptor: try staging.create(working))
        let record = SealedRecord(bytes: content.bytes, type: content.mimeType, name: name)
        let (bytes, sha256) = try SealedFileWriter(secret, role: role).seal(
            source.descriptor, to: target.descriptor, record: record)
        let written = Written(bytes: bytes, sha256: sha256)
        try staging.rename(working, to: written.name)
        try staging.remove(name)
        return written
    }

    private func url(of file: Written, in id: String) -> String? {
        target.url(of: PublishedFile(name: file.name, sha256: file.sha256), in: id, layout: .content)
    }
}
