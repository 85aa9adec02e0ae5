import Crypto
import Glibc
import Linux
import SafeArithmetic

/// A rendered file that no media process has open.
///
/// A compromised media process could keep its descriptor and change a file after it was hashed. So the bytes are hashed
/// and copied together, and the copy replaces the original.
enum SealedOutput {
    /// - Parameters:
    ///   - descriptor: The file that the media process wrote.
    ///   - name: Its name, which the copy takes over.
    /// - Throws: `output.no_space`, `output.not_writable`.
    static func seal(_ descriptor: CInt, as name: String, in staging: StagingFolder) throws -> HashedCopy {
        let sealed = "\(name).sealed"
        do {
            let target = try staging.create(sealed)
            defer { close(target) }
            let copy = try HashedCopy(of: descriptor, to: target)
            try staging.rename(sealed, to: name)
            return copy
        } catch {
            try staging.remove(sealed)
            if let error = error as? FileIOError { throw OutputErrors.error(error.code) }
            throw error
        }
    }
}

/// A copy of one file to another, counted and hashed on the way.
struct HashedCopy {
    let bytes: Int
    let sha256: String

    /// 256 KB: with chunks this large, the system calls cost nothing compared to hashing.
    private static let chunkBytes = 262_144

    /// - Parameter proceed: Called before each chunk; an error it throws ends the copy.
    /// - Throws: `FileIOError` when the source cannot be read; `output.no_space`, `output.not_writable`.
    init(of descriptor: CInt, to target: CInt, proceed: () throws -> Void = {}) throws {
        var hash = SHA256()
        var bytes = 0
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        while true {
            try proceed()
            let count = try unsafe chunk.withUnsafeMutableBytes {
                try unsafe FileIO.read(descriptor, into: $0, at: bytes)
            }
            guard count > 0 else { break }
            try unsafe chunk.withUnsafeBytes { buffer in
                let piece = unsafe UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
                unsafe hash.update(bufferPointer: piece)
                do throws(FileIOError) { try unsafe FileIO.write(piece, to: target, at: bytes) } catch {
                    throw OutputErrors.error(error.code)
                }
            }
            bytes = bytes.adding(clamping: count)
        }
        self.bytes = bytes
        sha256 = hash.finalize().hexadecimal
    }
}
