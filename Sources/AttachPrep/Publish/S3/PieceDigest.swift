import Crypto
import Curl
import Glibc
import RichPush

/// The SHA-256 of what one request sends, in lower-case hexadecimal.
enum PieceDigest {
    static func sha256(of bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hexadecimal }

    /// Of a piece of a file; blocking.
    ///
    /// - Throws: `output.not_writable` when the file cannot be read so far.
    static func sha256(of upload: TransferUpload) throws -> String {
        var hash = SHA256()
        var chunk = [UInt8](repeating: 0, count: chunkBytes)
        var done = 0
        while done < upload.bytes {
            // Bounded: the loop ends at the size of a file on disk.
            let wanted = min(chunk.count, upload.bytes - done)
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                // Bounded: inside a file on disk.
                unsafe pread(upload.descriptor, buffer.baseAddress, wanted, off_t(upload.offset + done))
            }
            guard count > 0 else { throw OutputFailure.error(count < 0 ? errno : EIO) }
            unsafe chunk.withUnsafeBytes { buffer in
                unsafe hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
            }
            // Bounded: at most what was wanted.
            done += count
        }
        return hash.finalize().hexadecimal
    }

    /// A quarter of a megabyte: large enough that the calls cost nothing beside the hashing.
    private static let chunkBytes = 262_144
}
