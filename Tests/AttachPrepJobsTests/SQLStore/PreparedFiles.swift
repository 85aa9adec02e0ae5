import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Crypto
import Foundation
import MediaTypes
import TestSupport

/// The output of a preparer: a folder with files, and the manifest that lists them.
struct PreparedFiles {
    let folder: String
    var manifest: Manifest

    init(_ sqlite: SQLiteUnderTest, _ text: String = UUID().uuidString) throws {
        folder = try sqlite.folder.makeFolder("state/work/\(UUID().uuidString)")
        let (attachment, thumbnail) = (Data("attachment \(text)".utf8), Data("thumbnail \(text)".utf8))
        try attachment.write(to: URL(fileURLWithPath: "\(folder)/attachment.jpg"))
        try thumbnail.write(to: URL(fileURLWithPath: "\(folder)/thumbnail.jpg"))
        try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(Manifest.fileName)"))
        manifest = .sample(.converted)
        manifest.attachment = ManifestFile(
            file: "attachment.jpg", type: .jpeg, bytes: attachment.count, sha256: Self.digest(attachment))
        manifest.thumbnail = ManifestImage(
            file: "thumbnail.jpg", mimeType: "image/jpeg", bytes: thumbnail.count, sha256: Self.digest(thumbnail),
            width: 3, height: 2, isTimed: true)
    }

    /// The size of both files, in bytes.
    var bytes: Int { (manifest.attachment?.bytes ?? 0) + (manifest.thumbnail?.bytes ?? 0) }

    static func digest(_ data: Data) -> String {
        SHA256.hash(data: data).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

extension SQLiteUnderTest {
    /// The regular files in a folder of the store.
    func files(_ folder: String) throws -> [String] {
        try self.folder.contents().filter { path in
            let attributes = try FileManager.default.attributesOfItem(atPath: self.folder.path(path))
            return path.hasPrefix("state/\(folder)/") && attributes[.type] as? FileAttributeType == .typeRegular
        }
    }

    func store(
        _ text: String = UUID().uuidString, key: String, freshUntil: Date? = nil
    ) async throws -> StoredResult {
        let files = try PreparedFiles(self, text)
        return try await store.store(
            files.manifest, folder: files.folder, for: WorkKey(key),
            freshness: SourceFreshness(freshUntil: freshUntil), fetchedAt: clock.now)
    }

    /// A job that has succeeded with a result of its own.
    func finishedJob(
        _ text: String = UUID().uuidString, key: String = UUID().uuidString, notice: WebhookNotice? = nil
    ) async throws -> (job: JobID, result: StoredResult) {
        let job = try await driver.enqueue(.sample(key: key))[0]
        let claimed = try await driver.claimOne()
        let result = try await store(text, key: key)
        _ = try await store.finish(claimed.lease, .succeeded(result.manifest, result.media), notice: notice)
        return (job, result)
    }
}

extension WebhookNotice {
    static func sample(_ url: String = "https://hooks.example/prepared?token=secret") -> WebhookNotice {
        WebhookNotice(url: url, event: .attachmentPrepared, body: #"{"type":"attachment.prepared"}"#)
    }
}
