import AttachPrep
import Crypto
import Foundation
import RichPush
import SealedMedia
import TestSupport

/// A file sealed with a known secret and salt, and opened again.
struct SealedSample {
    static let secret = SealedSecret(text: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8") ?? .make()
    static let salt = Data(32..<64)

    let folder: TemporaryFolder
    let content: Data

    init(bytes: Int) throws {
        try self.init(Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }))
    }

    init(_ content: Data) throws {
        folder = try TemporaryFolder()
        self.content = content
    }

    func sealed(
        _ role: SealedRole = .attachment, secret: SealedSecret = secret, salt: Data = salt,
        name: String = "attachment.jpg"
    ) throws -> Data {
        let (source, target) = (folder.url.appendingPathComponent("plain"), folder.url.appendingPathComponent("sealed"))
        try content.write(to: source)
        try Data().write(to: target)
        let (input, output) = (
            try FileHandle(forReadingFrom: source), try FileHandle(forUpdating: target)
        )
        let record = SealedRecord(bytes: content.count, type: "image/jpeg", name: name)
        let written = try SealedFileWriter(secret, role: role).seal(
            input.fileDescriptor, to: output.fileDescriptor, record: record, salt: salt)
        let data = try Data(contentsOf: target)
        guard written.bytes == data.count,
            written.sha256 == SHA256.hash(data: data).map({ ($0 < 16 ? "0" : "") + String($0, radix: 16) }).joined()
        else { throw TestError(description: "the writer's length or digest is not that of the file") }
        return data
    }

    /// What a reader makes of a file: record and content.
    func opened(
        _ sealed: Data, _ role: SealedRole = .attachment, secret: SealedSecret = secret, bytes: Int? = nil
    ) throws -> (record: SealedRecord, content: Data) {
        let (source, target) = (folder.url.appendingPathComponent("in"), folder.url.appendingPathComponent("out"))
        try sealed.write(to: source)
        try Data().write(to: target)
        let output = try FileHandle(forWritingTo: target)
        let record = try SealedFileReader(secret, role: role).open(source, to: output, bytes: bytes)
        return (record, try Data(contentsOf: target))
    }

    /// A file whose chunks have the given plaintexts, with nonces of any number and last flag.
    static func crafted(
        _ chunks: [(plaintext: Data, number: UInt32, isLast: Bool)], role: UInt8 = 1, length: Int? = nil
    ) throws -> Data {
        let length = length ?? chunks.reduce(0) { $0 + $1.plaintext.count }
        let bigEndian = { (value: UInt64, count: Int) in
            Data((0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) })
        }
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret.bytes), salt: salt,
            info: Data("attachprep sealed media".utf8) + [1, role], outputByteCount: 32)
        var file = Data([1, 16]) + salt
        for chunk in chunks {
            let nonce = Data(count: 7) + bigEndian(UInt64(chunk.number), 4) + [chunk.isLast ? 1 : 0]
            let box = try AES.GCM.seal(
                chunk.plaintext, using: key, nonce: AES.GCM.Nonce(data: nonce),
                authenticating: Data([1, role]) + bigEndian(65_536, 4) + bigEndian(UInt64(length), 8))
            file += box.ciphertext + box.tag
        }
        return file
    }

    /// Plaintext with a record, padded to a length.
    static func plaintext(_ content: Data, declaring bytes: Int? = nil, length: Int) -> Data {
        let record = SealedRecord(bytes: bytes ?? content.count, type: "image/jpeg", name: "a.jpg").encoded ?? Data()
        return record + content + Data(count: max(0, length - record.count - content.count))
    }
}
