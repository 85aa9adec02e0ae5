import AttachPrepModel
import Crypto
import CryptoExtras
import FileIO
import FoundationEssentials
import RichPush
import SafeArithmetic

/// Decrypts an attachment of Matrix in its file: AES-256 in counter mode.
struct MatrixDecryption {
    /// Whole blocks.
    private static let pieceBytes = 262_144
    private static let blockBytes = 16

    let file: MatrixFile

    /// Compares the hash of a downloaded file; nothing of it is used before.
    ///
    /// - Throws: `media.corrupt`.
    func verify(_ sha256: String) throws(AttachPrepError) {
        guard sha256 == file.sha256 else {
            throw AttachPrepError(
                .mediaCorrupt,
                "The SHA-256 of the encrypted file is not hashes.sha256 of the Matrix file object; check that URL and "
                    + "object belong together.")
        }
    }

    /// Replaces the encrypted bytes of a file by the plain ones.
    ///
    /// - Returns: SHA-256 of the plain file, in lowercase hexadecimal.
    /// - Throws: `deadline.exceeded`, `output.no_space`, `internal`.
    func run(_ descriptor: CInt, bytes: Int, deadline: ContinuousClock.Instant) throws -> String {
        var (hash, offset) = (SHA256(), 0)
        while offset < bytes {
            guard ContinuousClock.now < deadline else {
                throw AttachPrepError(
                    .deadlineExceeded, "The file was not decrypted in time; allow more time (budget).")
            }
            // Bounded: below the size of the file.
            let count = min(Self.pieceBytes, bytes - offset)
            let plain = [UInt8](try plain(FileIO.bytes(descriptor, at: offset, count: count), at: offset))
            try unsafe plain.withUnsafeBytes { piece in
                unsafe hash.update(bufferPointer: piece)
                do throws(FileIOError) { try unsafe FileIO.write(piece, to: descriptor, at: offset) } catch {
                    throw OutputErrors.error(error.code)
                }
            }
            offset = offset.adding(clamping: count)
        }
        return hash.finalize().hexadecimal
    }

    /// - Parameter offset: A multiple of the block size.
    func plain(_ bytes: [UInt8], at offset: Int) throws -> Data {
        try AES._CTR.decrypt(
            bytes, using: SymmetricKey(data: file.key),
            nonce: AES._CTR.Nonce(nonceBytes: counter(block: UInt64(clamping: offset / Self.blockBytes))))
    }

    /// The counter of a block: a big-endian number of 16 bytes that begins with the initialization vector.
    private func counter(block: UInt64) -> [UInt8] {
        var (counter, carry) = (file.vector, block)
        for index in counter.indices.reversed() where carry > 0 {
            // Bounded: a byte and the low byte of the carry.
            let sum = UInt64(counter[index]) + carry & 0xFF
            counter[index] = UInt8(truncatingIfNeeded: sum)
            // Bounded: a shifted number and one bit.
            carry = carry >> 8 + sum >> 8
        }
        return counter
    }
}
