import AttachPrepModel
import Crypto
import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// Seals the secrets that a database holds: headers, complete URLs, callback URLs.
///
/// A database of others keeps old rows, write-ahead logs, standbys and dumps, from which deleted secrets cannot be
/// removed; so it gets them only encrypted (AES-256-GCM, NIST SP 800-38D), with keys from a file on every machine.
/// A sealed text is `KEYID:BASE64`, of the nonce, the ciphertext and the tag; the name of its row is authenticated, so
/// that a text cannot be moved to another row.
public struct SecretSeal: Sendable {
    private let keys: [(id: String, key: SymmetricKey)]

    private static let keyBytesCount = 32

    /// - Parameter text: the content of a key file: lines `KEYID:BASE64`, the base64 of 32 random bytes. The first key
    ///   seals, all of them open. Empty lines and lines that begin with `#` are ignored.
    /// - Throws: `request.invalid`, without the keys.
    public init(_ text: String) throws {
        var keys: [(id: String, key: SymmetricKey)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.utf8.filter { $0 > 0x20 }
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            let id = parts.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
            let data = parts.count == 2 ? Data(base64Encoded: Data(parts[1])) : nil
            guard let data, data.count == Self.keyBytesCount, Self.isID(id), !keys.contains(where: { $0.id == id })
            else {
                throw AttachPrepError(
                    .requestInvalid,
                    "Line \(index + 1) is not KEYID:BASE64 with 32 bytes of base64 and an id of its own (1 to 32 "
                        + "letters, digits, - and _); make a key with: echo \"k1:$(openssl rand -base64 32)\".")
            }
            keys.append((id, SymmetricKey(data: data)))
        }
        guard !keys.isEmpty else { throw AttachPrepError(.requestInvalid, "The file contains no key.") }
        self.keys = keys
    }

    private static func isID(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                    || byte == 95
            }
    }

    /// - Parameter row: the name of the row that will hold the text.
    public func seal(_ text: String, for row: String) throws -> String {
        let sealed = try AES.GCM.seal(
            Array(text.utf8), using: keys[0].key, authenticating: Array("\(keys[0].id):\(row)".utf8))
        guard let combined = sealed.combined else { throw Self.unreadable }
        return "\(keys[0].id):\(combined.base64EncodedString())"
    }

    /// - Throws: `queue.unavailable` for a text that none of the keys opens.
    public func open(_ text: String, for row: String) throws -> String {
        if let id = missingKey(of: text) { throw Self.missing(id) }
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        guard parts.count == 2, let key = keys.first(where: { $0.id.utf8.elementsEqual(parts[0]) }),
            let data = Data(base64Encoded: Data(parts[1])), let box = try? AES.GCM.SealedBox(combined: data),
            let plain = try? AES.GCM.open(box, using: key.key, authenticating: Array("\(key.id):\(row)".utf8))
        else { throw Self.unreadable }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The id of the key that sealed a text, if it is not one of these keys.
    func missingKey(of text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        guard parts.count == 2, !keys.contains(where: { $0.id.utf8.elementsEqual(parts[0]) }) else { return nil }
        return MessageText.excerpt(String(decoding: parts[0], as: UTF8.self), bytesMax: 32)
    }

    private static func missing(_ id: String) -> AttachPrepError {
        AttachPrepError(
            .queueUnavailable,
            "The secrets of a job are sealed with the key \"\(id)\", which the queue key file of this machine does not "
                + "have; add the key.")
    }

    private static let unreadable = AttachPrepError(
        .queueUnavailable,
        "A secret of the job database cannot be opened; the key file needs every key that is still in use.",
        isRetryable: false)
}

/// How the store writes secrets: sealed for a database of others, as they are into the folder of one machine, where
/// they are overwritten when they are deleted.
struct SecretStorage: Sendable {
    let seal: SecretSeal?

    func stored(_ text: String, for row: String) throws -> String { try seal?.seal(text, for: row) ?? text }

    func lacksKey(of text: String) -> Bool { seal?.missingKey(of: text) != nil }

    func opened(_ text: String, for row: String) throws -> String { try seal?.open(text, for: row) ?? text }
}
