import Crypto
import Glibc
import SafeArithmetic

/// The bytes of one file written into another, counted and hashed on the way.
struct HashedCopy {
    let bytes: Int
    let sha256: String

    /// The file that is copied cannot be read; errno.
    struct ReadFailure: Error {
        let code: CInt
    }

    /// A quarter of a megabyte: large enough that the calls cost nothing beside the hashing.
    private static let chunkBytes = 262_144

    /// - Parameter proceed: asked before each piece; what it throws ends the copy.
    /// - Throws: `ReadFailure`, `output.no_space`, `output.not_writable`.
    init(of descriptor: CInt, to target: CInt, proceed: () throws -> Void = {}) throws {
        var hash = SHA256()
        var bytes = 0
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        while true {
            try proceed()
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(clamping: bytes))
            }
            guard count >= 0 else { throw ReadFailure(code: errno) }
            guard count > 0 else { break }
            try unsafe chunk.withUnsafeBytes { buffer in
                let piece = unsafe UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
                unsafe hash.update(bufferPointer: piece)
                try unsafe Self.write(piece, to: target)
            }
            bytes = bytes.adding(clamping: count)
        }
        self.bytes = bytes
        sha256 = hash.finalize().hexadecimal
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to target: CInt) throws {
        var written = 0
        while written < bytes.count {
            // Bounded: `written` is below the buffer's count.
            let count = unsafe Glibc.write(target, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw OutputFailure.error(errno) }
            written += count  // Bounded: by the buffer's count.
        }
    }
}
