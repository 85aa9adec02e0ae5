import Crypto
import Glibc
import RichPush

/// A source on this machine, open for reading.
final class LocalFile: Sendable {
    let descriptor: CInt
    let bytes: Int
    /// Size and time of change: a file that changed is another source.
    let state: String

    /// Opens a regular file.
    ///
    /// - Throws: `source.not_found`, `source.invalid_url` for a folder or a device.
    init(path: String) throws {
        // A pipe would block here until somebody writes into it.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw AttachPrepError(
                .sourceNotFound, "The file \(path) cannot be opened; check its name and permissions.",
                detail: unsafe String(cString: strerror(errno)))
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw AttachPrepError(.sourceInvalidURL, "\(path) is not a file; give a file or a URL.")
        }
        self.descriptor = descriptor
        bytes = Int(status.st_size)
        state = "\(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    deinit {
        close(descriptor)
    }

    /// A quarter of a megabyte: large enough that the calls cost nothing beside the copying.
    private static let chunkBytes = 262_144

    /// Copies the file and returns its digest; blocking, as short as the file is small.
    ///
    /// - Throws: `deadline.exceeded` when the deadline passes on the way.
    func copy(to target: CInt, deadline: ContinuousClock.Instant) throws -> String {
        var hash = SHA256()
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        var offset = 0
        while true {
            guard ContinuousClock.now < deadline else { throw AttachPrepError.deadlinePassed(at: "fetching") }
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            }
            guard count >= 0 else {
                throw AttachPrepError(
                    .sourceNotFound, "The file cannot be read.", detail: unsafe String(cString: strerror(errno)))
            }
            guard count > 0 else { return hash.finalize().hexadecimal }
            try unsafe chunk.withUnsafeBytes { buffer in
                let part = unsafe UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
                unsafe hash.update(bufferPointer: part)
                try unsafe Self.write(part, to: target)
            }
            offset += count
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to target: CInt) throws {
        var written = 0
        while written < bytes.count {
            let count = unsafe Glibc.write(target, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw OutputFailure.error(errno) }
            written += count
        }
    }
}
