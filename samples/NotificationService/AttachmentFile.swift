import CryptoKit
import Foundation
import RichPush
import UserNotifications

/// A file that was checked and stands under its right name.
struct AttachmentFile: Sendable {
    let url: URL
    let type: AttachmentType
    let candidate: FetchCandidate

    /// Throws what iOS says of a file that it does not take.
    func attachment() throws -> UNNotificationAttachment {
        try UNNotificationAttachment(
            identifier: candidate.id, url: url, options: candidate.options.dictionary(for: type))
    }

    /// SHA-256 in lower-case hexadecimal, a piece at a time: the file may be larger than an extension's memory.
    static func sha256(of url: URL) throws -> String {
        let file = try FileHandle(forReadingFrom: url)
        defer { try? file.close() }
        var digest = SHA256()
        while try releasing({ try take(from: file, into: &digest) }) {}
        return digest.finalize().map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// As much of a file as tells what it is.
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

    /// Pieces would else stay in memory until the thread's pool is drained.
    private static func releasing(_ body: () throws -> Bool) rethrows -> Bool {
        #if canImport(ObjectiveC)
            try autoreleasepool(invoking: body)
        #else
            try body()
        #endif
    }
}
