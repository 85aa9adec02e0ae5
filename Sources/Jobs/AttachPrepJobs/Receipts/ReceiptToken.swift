internal import AttachPrep
public import AttachPrepModel
internal import Crypto
internal import FoundationEssentials
internal import Glibc
import MediaTypes

/// A token that permits reporting the arrival of a payload: its signed dispatch id, in 34 characters.
///
/// A version byte, the 64-bit id and 128 bits of HMAC-SHA256 over both, as base64url. The store is queried only for ids
/// with a valid signature.
public struct ReceiptToken: Sendable, Hashable {
    public static let charactersCount = 34

    public let text: String

    public init(_ dispatch: DispatchID, key: ReceiptKey) {
        let content = [Self.version] + dispatch.bytes
        text = UnpaddedBase64.urlSafe(content + Self.signature(of: content, key))
    }

    /// Verifies a token and returns its dispatch id.
    ///
    /// - Throws: `request.unauthorized` for a token that was not signed with this key.
    public static func dispatch(of text: String, key: ReceiptKey) throws(AttachPrepError) -> DispatchID {
        let bytes = UnpaddedBase64.bytes(text, count: contentCount + signatureCount)
        guard let bytes, bytes[0] == version else { throw invalidTokenError }
        let content = Array(bytes[..<contentCount])
        guard bytes[contentCount...].equalsInConstantTime(signature(of: content, key)) else { throw invalidTokenError }
        return DispatchID(bytes: content.dropFirst())
    }

    private static let version: UInt8 = 1
    private static let contentCount = 9
    private static let signatureCount = 16
    /// Domain separation: no signature that this key makes for another purpose is valid as a token.
    private static let purpose = Array("attachprep receipt\0".utf8)

    private static var invalidTokenError: AttachPrepError {
        AttachPrepError(
            .requestUnauthorized, "The receipt's token was not issued by this service; send the token of the payload.")
    }

    private static func signature(of content: [UInt8], _ key: ReceiptKey) -> [UInt8] {
        Array(key.sign(purpose + content).prefix(signatureCount))
    }
}

/// The key that signs receipt tokens: 32 random bytes in a file of the data folder, generated on first use and shared
/// by all processes that use the folder.
///
/// Its bytes appear neither in errors nor in printed descriptions.
public struct ReceiptKey: Sendable {
    private static let bytesCount = 32
    static let fileName = "receipt.key"

    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        precondition(bytes.count == Self.bytesCount, "a key has a fixed length")
        self.bytes = bytes
    }

    /// Generates a key.
    public static func random() -> ReceiptKey {
        var generator = SystemRandomNumberGenerator()
        return ReceiptKey(bytes: (0..<bytesCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Reads the key of a data folder, and generates it when there is none.
    ///
    /// - Throws: `queue.unavailable`, which names the file and the problem.
    public static func open(folder: String) async throws -> ReceiptKey {
        try await BlockingThread().run {
            let file = ReceiptKeyFile(folder: folder)
            if let bytes = try file.read(count: bytesCount) { return ReceiptKey(bytes: bytes) }
            try file.make(random().bytes)
            // Another process may have created the file first; its key is used then.
            guard let bytes = try file.read(count: bytesCount) else {
                throw DataFolder.unusableError(file.path, ENOENT)
            }
            return ReceiptKey(bytes: bytes)
        }
    }

    /// For a store that all machines share, which seals it.
    package var base64: String { Data(bytes).base64EncodedString() }

    /// Nil for another text.
    package init?(base64 text: String) {
        guard let data = Data(base64Encoded: text), data.count == Self.bytesCount else { return nil }
        bytes = Array(data)
    }

    func sign(_ content: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: bytes)))
    }
}

extension ReceiptKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "REDACTED" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The key's file: created atomically, with mode 0600.
private struct ReceiptKeyFile {
    let folder: String
    var path: String { "\(folder)/\(ReceiptKey.fileName)" }

    /// Nil when the file does not exist.
    func read(count: Int) throws -> [UInt8]? {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw DataFolder.unusableError(path, errno)
        }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw DataFolder.unusableError(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size == count else {
            throw error(
                "does not have \(count) bytes; restore a backup, or remove it: then "
                    + "receipts of payloads that were already sent are rejected")
        }
        guard status.st_mode & 0o077 == 0 else { throw error("is accessible to other users; chmod 600 it") }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard got == count else { throw DataFolder.unusableError(path, got < 0 ? errno : EIO) }
        return bytes
    }

    /// Writes a temporary file and links it to its final path: the first process wins.
    func make(_ bytes: [UInt8]) throws {
        let draft = "\(path).\(UInt64.random(in: .min ... .max))"
        let descriptor = unsafe Glibc.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DataFolder.unusableError(path, errno) }
        defer {
            Glibc.close(descriptor)
            unsafe unlink(draft)
        }
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw DataFolder.unusableError(path, count < 0 ? errno : ENOSPC) }
        guard fsync(descriptor) == 0 else { throw DataFolder.unusableError(path, errno) }
        guard unsafe link(draft, path) == 0 || errno == EEXIST else { throw DataFolder.unusableError(path, errno) }
        let parent = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw DataFolder.unusableError(folder, errno) }
        defer { Glibc.close(parent) }
        guard fsync(parent) == 0 else { throw DataFolder.unusableError(folder, errno) }
    }

    private func error(_ error: String) -> AttachPrepError {
        AttachPrepError(.queueUnavailable, "\(path) \(error).", isRetryable: false)
    }
}
