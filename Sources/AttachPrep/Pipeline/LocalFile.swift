import Glibc
import RichPush
import SafeArithmetic

/// A source on this machine, open for reading.
final class LocalFile: Sendable {
    let descriptor: CInt
    let bytes: Int
    /// Size and time of change: a file that changed is another source.
    let state: String

    /// Opens a regular file.
    ///
    /// - Parameter shown: what the caller knows it by; nil for the path itself.
    /// - Throws: `source.not_found`, `source.invalid_url` for a folder or a device.
    init(path: String, shown: String? = nil) throws {
        // A pipe would block here until somebody writes into it.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw AttachPrepError(
                .sourceNotFound, "The file \(shown ?? path) cannot be opened; check its name and permissions.",
                detail: unsafe String(cString: strerror(errno)))
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw AttachPrepError(.sourceInvalidURL, "\(shown ?? path) is not a file; give a file or a URL.")
        }
        self.descriptor = descriptor
        bytes = Int(clamping: status.st_size)
        state = "\(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    deinit {
        close(descriptor)
    }

    /// Copies the file and returns its digest; blocking, as short as the file is small.
    ///
    /// - Throws: `deadline.exceeded` when the deadline passes on the way.
    func copy(to target: CInt, deadline: ContinuousClock.Instant) throws -> String {
        do {
            return try HashedCopy(of: descriptor, to: target) {
                guard ContinuousClock.now < deadline else { throw AttachPrepError.deadlinePassed(at: "fetching") }
            }.sha256
        } catch let failure as HashedCopy.ReadFailure {
            throw AttachPrepError(
                .sourceNotFound, "The file cannot be read.", detail: unsafe String(cString: strerror(failure.code)))
        }
    }
}
