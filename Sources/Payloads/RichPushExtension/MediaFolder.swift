import CryptoKit
package import Foundation
import RichPush
import RichPushReceipts
import SealedMedia
import UserNotifications

/// The folder for the files of one notification.
final class MediaFolder: Sendable {
    private struct State: Sendable {
        /// Subfolders of delivered files: iOS moves them later.
        var kept: Set<String> = []
        var isClosed = false
    }

    private let url: URL
    private let state = Locked(State())

    init(in parent: URL) {
        url = parent.appendingPathComponent(UUID().uuidString, isDirectory: true)
    }

    /// Moves a checked file into the folder, under a name with the right extension.
    func take(_ file: URL, for candidate: FetchCandidate, as type: DeviceFileType) throws -> AttachmentFile {
        // One subfolder per file, since candidates may have the same name.
        let own = url.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let target = own.appendingPathComponent(candidate.fileName(type))
        try FileManager.default.moveItem(at: file, to: target)
        if state.value.isClosed {
            clean()
            throw FetchError.cancelled
        }
        return AttachmentFile(url: target, type: type, candidate: candidate)
    }

    /// Copies a file of the app's bundle, since iOS moves the files it attaches.
    func copy(
        _ name: String, from folders: [URL], for candidate: FetchCandidate
    ) -> Result<AttachmentFile, FetchError> {
        let files = folders.map { $0.appendingPathComponent(name) }
        guard let file = files.first(where: { FileManager.default.isReadableFile(atPath: $0.path) }) else {
            return .failure(.missing)
        }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let copy = url.appendingPathComponent("copy-\(UUID().uuidString)")
            try FileManager.default.copyItem(at: file, to: copy)
            return check(copy, for: candidate, FetchResponse(status: 200, suggestedName: name))
        } catch {
            return .failure(.missing)
        }
    }

    /// Checks a file and moves it into the folder; deletes it when a check fails.
    func check(
        _ file: URL, for candidate: FetchCandidate, _ response: FetchResponse
    ) -> Result<AttachmentFile, FetchError> {
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            let bytes = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            if let seal = candidate.sealed {
                let error = candidate.error(of: response, received: bytes, type: nil) { "" }
                return error.map(Result.failure) ?? open(file, seal: seal, for: candidate)
            }
            let type = try candidate.type(in: response) ?? DeviceFileType(beginning: AttachmentFile.beginning(of: file))
            let error = try candidate.error(of: response, received: bytes, type: type) {
                try AttachmentFile.sha256(of: file)
            }
            guard let type, error == nil else { return .failure(error ?? .type) }
            return .success(try take(file, for: candidate, as: type))
        } catch {
            return .failure(.connection)
        }
    }

    /// Opens a sealed file into the folder; deletes what was written when a check fails or the folder was closed.
    private func open(
        _ file: URL, seal: PushSeal, for candidate: FetchCandidate
    ) -> Result<AttachmentFile, FetchError> {
        let opened = url.appendingPathComponent("opened-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: opened) }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let target = try Self.create(opened)
            defer { try? target.close() }
            let reader = SealedFileReader(seal.secret, role: candidate.role == .thumbnail ? .thumbnail : .attachment)
            let record = try reader.open(file, to: target, bytes: seal.bytes) {
                if state.value.isClosed { throw FetchError.cancelled }
            }
            guard let type = DeviceFileType(mimeType: record.type) else { return .failure(.sealed) }
            if let error = candidate.error(ofOpened: record.bytes, type: type) { return .failure(error) }
            return .success(try take(opened, for: candidate, as: type))
        } catch {
            return .failure(error as? FetchError ?? .sealed)
        }
    }

    /// Creates an empty file that can be read only after the phone was unlocked once since its start.
    private static func create(_ file: URL) throws -> FileHandle {
        #if canImport(Darwin)
            let attributes: [FileAttributeKey: Any] = [
                .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication
            ]
        #else
            let attributes: [FileAttributeKey: Any] = [:]
        #endif
        guard FileManager.default.createFile(atPath: file.path, contents: nil, attributes: attributes) else {
            throw FetchError.missing
        }
        return try FileHandle(forWritingTo: file)
    }

    /// Excludes delivered files from `clean()`.
    func keep(_ files: [URL]) {
        let folders = files.map { $0.deletingLastPathComponent().lastPathComponent }
        state.change { $0.kept = Set(folders) }
    }

    /// Cleans for the last time: a file whose check ends later is removed as well.
    func close() {
        state.change { $0.isClosed = true }
        clean()
    }

    /// Removes all files except delivered ones that iOS has not moved yet.
    func clean() {
        let kept = state.value.kept
        let folders = (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
        for folder in folders where !kept.contains(folder.lastPathComponent) || Self.isEmpty(folder) {
            try? FileManager.default.removeItem(at: folder)
        }
        if Self.isEmpty(url) { try? FileManager.default.removeItem(at: url) }
    }

    /// Removes abandoned folders of earlier notifications: iOS may kill an extension at any time.
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

/// A checked file with the right extension.
package struct AttachmentFile: Sendable {
    let url: URL
    let type: DeviceFileType
    let candidate: FetchCandidate

    /// Creates the attachment; throws the `UNError` of iOS when it rejects the file.
    func attachment() throws -> UNNotificationAttachment {
        try UNNotificationAttachment(
            identifier: candidate.id, url: url, options: candidate.options.dictionary(for: type))
    }

    /// SHA-256 in lowercase hexadecimal, computed in chunks: the file may be larger than the extension's memory limit.
    package static func sha256(of url: URL) throws -> String {
        let file = try FileHandle(forReadingFrom: url)
        defer { try? file.close() }
        var digest = SHA256()
        while try releasing({ try take(from: file, into: &digest) }) {}
        return digest.finalize().map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The first 12 bytes, enough to detect the type.
    static func beginning(of url: URL) throws -> Data {
        let file = try FileHandle(forReadingFrom: url)
        defer { try? file.close() }
        return try file.read(upToCount: 12) ?? Data()
    }

    private static func take(from file: FileHandle, into digest: inout SHA256) throws -> Bool {
        guard let piece = try file.read(upToCount: Limits.devicePieceBytes), !piece.isEmpty else { return false }
        digest.update(data: piece)
        return true
    }

    /// Frees each chunk immediately; otherwise chunks stay in memory until the thread's autorelease pool is drained.
    private static func releasing(_ body: () throws -> Bool) rethrows -> Bool {
        #if canImport(ObjectiveC)
            try autoreleasepool(invoking: body)
        #else
            try body()
        #endif
    }
}

extension Limits {
    /// Chunk size for the digest of a file: an extension has 24 MB of memory, on older devices 12 MB.
    static let devicePieceBytes = 65_536
}
