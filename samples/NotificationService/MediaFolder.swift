import Foundation
import RichPush

/// A folder of its own for the files of one notification.
final class MediaFolder: Sendable {
    private let url: URL
    /// Folders whose files belong to iOS: handed over, they are moved when it has time.
    private let kept = Guarded<Set<String>>([])

    init(in parent: URL) {
        url = parent.appendingPathComponent(UUID().uuidString, isDirectory: true)
    }

    /// Moves a file that was checked in, under the right name.
    func take(_ file: URL, for candidate: FetchCandidate, as type: AttachmentType) throws -> AttachmentFile {
        // A folder each: candidates may have the same name.
        let own = url.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let target = own.appendingPathComponent(candidate.fileName(type))
        try FileManager.default.moveItem(at: file, to: target)
        return AttachmentFile(url: target, type: type, candidate: candidate)
    }

    /// A copy of a file that the app brings along: iOS moves what it attaches.
    func copy(
        _ name: String, from places: [URL], for candidate: FetchCandidate
    ) -> Result<AttachmentFile, FetchRefusal> {
        let files = places.map { $0.appendingPathComponent(name) }
        guard let file = files.first(where: { FileManager.default.isReadableFile(atPath: $0.path) }) else {
            return .failure(.missing)
        }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let copy = url.appendingPathComponent("copy-\(UUID().uuidString)")
            try FileManager.default.copyItem(at: file, to: copy)
            return check(copy, for: candidate, FetchAnswer(status: 200, suggestedName: name))
        } catch {
            return .failure(.missing)
        }
    }

    /// Takes a file in when it is what was asked for; else it goes.
    func check(
        _ file: URL, for candidate: FetchCandidate, _ answer: FetchAnswer
    ) -> Result<AttachmentFile, FetchRefusal> {
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let bytes = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            let type = try candidate.type(in: answer) ?? AttachmentType(beginning: AttachmentFile.beginning(of: file))
            let refusal = try candidate.refusal(of: answer, received: bytes, type: type) {
                try AttachmentFile.sha256(of: file)
            }
            guard let type, refusal == nil else { return .failure(refusal ?? .type) }
            return .success(try take(file, for: candidate, as: type))
        } catch {
            return .failure(.connection)
        }
    }

    /// Names the files that are handed over.
    func keep(_ files: [URL]) {
        kept.set(Set(files.map { $0.deletingLastPathComponent().lastPathComponent }))
    }

    /// Removes everything but what iOS has not moved yet.
    func clean() {
        let kept = kept.value
        let folders = (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
        for folder in folders where !kept.contains(folder.lastPathComponent) || Self.isEmpty(folder) {
            try? FileManager.default.removeItem(at: folder)
        }
        if Self.isEmpty(url) { try? FileManager.default.removeItem(at: url) }
    }

    /// Removes what earlier notifications left: an extension can be killed at any time.
    static func sweep(_ parent: URL) {
        let folders =
            (try? FileManager.default.contentsOfDirectory(
                at: parent, includingPropertiesForKeys: [.contentModificationDateKey])) ?? []
        let limit = Date(timeIntervalSinceNow: -Limits.deviceAbandonedSeconds)
        for folder in folders {
            let date = try? folder.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
            if date ?? .distantPast < limit { try? FileManager.default.removeItem(at: folder) }
        }
    }

    private static func isEmpty(_ folder: URL) -> Bool {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.isEmpty ?? false
    }
}
