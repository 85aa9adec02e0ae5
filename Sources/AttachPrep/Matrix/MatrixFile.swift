import AttachPrepModel
import FileIO
import FoundationEssentials
import RichPush

/// The key of an encrypted attachment of Matrix: the `file` object of an event (`EncryptedFile` of the specification).
///
/// In a request: `"matrix": {"file": {"v": "v2", "key": {…}, "iv": "…", "hashes": {"sha256": "…"}}}`. The source is the
/// URL of the encrypted file.
/// <https://spec.matrix.org/latest/client-server-api/#extensions-to-mroommessage-msgtypes>
public struct MatrixFile: Sendable, Hashable {
    /// AES-256 key.
    let key: [UInt8]
    /// The first counter block, 16 bytes.
    let vector: [UInt8]
    /// SHA-256 of the encrypted file, in lowercase hexadecimal.
    let sha256: String
    private let encryptedFile: EncryptedFile

    /// Reads the `file` object from a file of JSON.
    ///
    /// - Throws: `request.invalid`.
    public init(path: String) throws {
        let bytes: [UInt8]
        do { bytes = try SmallFile.bytes(of: path, bytesMax: Limits.matrixFileBytesMax) } catch {
            let reason = error.reason(bytesMax: Limits.matrixFileBytesMax)
            throw AttachPrepError(
                .requestInvalid, "The Matrix file object in \(path) \(reason); check its path and permissions.")
        }
        let encryptedFile: EncryptedFile
        do { encryptedFile = try ForeignJSON.decode(EncryptedFile.self, from: bytes) } catch {
            throw Self.invalid("the JSON in \(path) is not a file object with v, key, iv and hashes")
        }
        try self.init(encryptedFile)
    }

    private init(_ encryptedFile: EncryptedFile) throws(AttachPrepError) {
        let jwk = encryptedFile.key
        guard encryptedFile.v == "v2" else { throw Self.invalid("v is not \"v2\"") }
        guard jwk.kty == "oct" else { throw Self.invalid("key.kty is not \"oct\"") }
        guard jwk.alg == "A256CTR" else { throw Self.invalid("key.alg is not \"A256CTR\"") }
        guard jwk.ext != false else { throw Self.invalid("key.ext is not true") }
        guard jwk.key_ops.contains("decrypt") else { throw Self.invalid("key.key_ops has no \"decrypt\"") }
        guard let key = UnpaddedBase64.bytes(jwk.k, count: 32, isURLSafe: true) else {
            throw Self.invalid("key.k is not 32 bytes of unpadded base64url")
        }
        guard let vector = UnpaddedBase64.bytes(encryptedFile.iv, count: 16, isURLSafe: false) else {
            throw Self.invalid("iv is not 16 bytes of unpadded base64")
        }
        let digest = encryptedFile.hashes["sha256"]
        guard let hash = digest.flatMap({ UnpaddedBase64.bytes($0, count: 32, isURLSafe: false) }) else {
            throw Self.invalid("hashes.sha256 is not 32 bytes of unpadded base64")
        }
        (self.key, self.vector, sha256, self.encryptedFile) = (key, vector, hash.hexadecimal, encryptedFile)
    }

    private static func invalid(_ what: String) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid, "The Matrix file object is invalid: \(what); pass the file of the event unchanged.")
    }
}

/// Encoded as it was written, within `{"file": …}`.
extension MatrixFile: Codable {
    private struct EncryptedFile: Codable, Sendable, Hashable {
        struct Key: Codable, Sendable, Hashable {
            let kty, k, alg: String
            let ext: Bool?
            let key_ops: [String]
        }

        let v, iv: String
        let key: Key
        let hashes: [String: String]
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case file
    }

    public init(from decoder: any Decoder) throws {
        try decoder.rejectUnknownKeys(except: CodingKeys.allCases.map(\.rawValue))
        try self.init(try decoder.container(keyedBy: CodingKeys.self).decode(EncryptedFile.self, forKey: .file))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(encryptedFile, forKey: .file)
    }
}

extension Limits {
    /// Bytes of a file object in a file, which has some 400.
    static let matrixFileBytesMax = 16_384
}
