import AttachPrepModel
import Crypto
package import FoundationEssentials
import Linux
package import RichPush
import SafeArithmetic
package import SealedMedia

/// Seals a file for a phone that has the secret (`docs/reference/sealed.md`), a chunk at a time.
package struct SealedFileWriter: Sendable {
    private let secret: SealedSecret
    private let role: SealedRole

    /// - Parameter secret: Not used for another file of the same role.
    package init(_ secret: SealedSecret, role: SealedRole) {
        self.secret = secret
        self.role = role
    }

    /// Writes the sealed form of a file.
    ///
    /// - Parameters:
    ///   - descriptor: The plaintext, with at least the bytes of the record.
    ///   - target: An empty file.
    ///   - record: Length, type and name of the content, which only the secret opens.
    ///   - salt: Random bytes; tests have fixed ones.
    /// - Returns: The length of the sealed file and its SHA-256 in lowercase hexadecimal.
    /// - Throws: `output.no_space`, `output.not_writable`; `internal` for content that cannot be sealed.
    package func seal(
        _ descriptor: CInt, to target: CInt, record: SealedRecord, salt: Data = Self.salt()
    ) throws -> (bytes: Int, sha256: String) {
        guard record.bytes > 0, let start = record.encoded,
            let layout = SealedLayout(contentEnd: start.count.adding(clamping: record.bytes))
        else {
            throw AttachPrepError(.internal, "A file cannot be sealed: it is empty, too large or has too long a name.")
        }
        let cipher = SealedCipher(secret, role: role, salt: salt, layout: layout)
        do {
            return try write(
                start, contentBytes: record.bytes, from: descriptor, to: target, cipher: cipher, salt: salt)
        } catch let error as FileIOError {
            throw OutputErrors.error(error.code)
        }
    }

    private func write(
        _ start: Data, contentBytes: Int, from descriptor: CInt, to target: CInt, cipher: SealedCipher, salt: Data
    ) throws -> (bytes: Int, sha256: String) {
        let layout = cipher.layout
        var (hash, written, read) = (SHA256(), 0, 0)
        func append(_ piece: Data) throws {
            hash.update(data: piece)
            try FileIO.write([UInt8](piece), to: target, at: written)
            written += piece.count
        }
        try append(Data([SealedLayout.version, SealedLayout.chunkBits]) + salt)
        for index in 0..<layout.chunksCount {
            let size = layout.bytes(ofChunk: index)
            var plaintext = index == 0 ? start : Data()
            let wanted = min(contentBytes - read, size - plaintext.count)
            let content = try FileIO.bytes(descriptor, at: read, count: wanted)
            guard content.count == wanted else {
                throw AttachPrepError(.internal, "A file became shorter while it was sealed; try again.")
            }
            read += wanted
            plaintext.append(contentsOf: content)
            plaintext.append(Data(count: size - plaintext.count))
            try append(try cipher.seal(plaintext, chunk: index))
        }
        return (written, hash.finalize().hexadecimal)
    }

    /// Random bytes for the header of a file.
    package static func salt() -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<SealedLayout.saltBytes).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
