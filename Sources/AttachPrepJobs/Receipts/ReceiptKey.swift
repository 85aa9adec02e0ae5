internal import AttachPrep
internal import Crypto
internal import Glibc
internal import RichPush

/// What signs the tokens of receipts: 32 random bytes in a file of the data folder, made when they are first needed,
/// so that everybody who works on the folder has the same.
///
/// It never shows itself: neither in errors nor when it is printed.
public struct ReceiptKey: Sendable {
    private static let bytesCount = 32
    static let fileName = "receipt.key"

    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        precondition(bytes.count == Self.bytesCount, "a key has a fixed length")
        self.bytes = bytes
    }

    /// One that nobody else has.
    public static func random() -> ReceiptKey {
        var generator = SystemRandomNumberGenerator()
        return ReceiptKey(bytes: (0..<bytesCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The key of a data folder.
    ///
    /// - Throws: `queue.unavailable`, which names the file and what is wrong with it.
    public static func open(folder: String) async throws -> ReceiptKey {
        try await BlockingLane().run {
            let file = ReceiptKeyFile(folder: folder)
            if let bytes = try file.read(count: bytesCount) { return ReceiptKey(bytes: bytes) }
            try file.make(random().bytes)
            // Somebody else's, when that one was quicker.
            guard let bytes = try file.read(count: bytesCount) else { throw StoreFolder.refusal(file.path, ENOENT) }
            return ReceiptKey(bytes: bytes)
        }
    }

    /// HMAC-SHA256.
    func sign(_ content: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: bytes)))
    }
}

extension ReceiptKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "REDACTED" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The key's file: there as a whole or not at all, and for its owner alone.
private struct ReceiptKeyFile {
    let folder: String
    var path: String { "\(folder)/\(ReceiptKey.fileName)" }

    /// Nil when there is none.
    func read(count: Int) throws -> [UInt8]? {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw StoreFolder.refusal(path, errno)
        }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw StoreFolder.refusal(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size == count else {
            throw fault(
                "is not the \(count) bytes that were written; put a copy in its place, or remove it: then "
                    + "devices' receipts of payloads that are out are refused")
        }
        guard status.st_mode & 0o077 == 0 else { throw fault("is open to others on this machine; chmod 600 it") }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard got == count else { throw StoreFolder.refusal(path, got < 0 ? errno : EIO) }
        return bytes
    }

    /// Writes it beside its place, then links it there: the first one wins.
    func make(_ bytes: [UInt8]) throws {
        let draft = "\(path).\(UInt64.random(in: .min ... .max))"
        let descriptor = unsafe Glibc.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFolder.refusal(path, errno) }
        defer {
            Glibc.close(descriptor)
            unsafe unlink(draft)
        }
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw StoreFolder.refusal(path, count < 0 ? errno : ENOSPC) }
        guard fsync(descriptor) == 0 else { throw StoreFolder.refusal(path, errno) }
        guard unsafe link(draft, path) == 0 || errno == EEXIST else { throw StoreFolder.refusal(path, errno) }
        let parent = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw StoreFolder.refusal(folder, errno) }
        defer { Glibc.close(parent) }
        guard fsync(parent) == 0 else { throw StoreFolder.refusal(folder, errno) }
    }

    private func fault(_ fault: String) -> AttachPrepError {
        AttachPrepError(.queueUnavailable, "\(path) \(fault).", isRetryable: false)
    }
}
