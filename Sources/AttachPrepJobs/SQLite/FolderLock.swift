import Glibc
import RichPush
import Synchronization

/// The right of one process to a data folder, until it ends.
///
/// Linux: flock(2). The kernel gives it back however the process ends.
final class FolderLock: Sendable {
    private let descriptor: CInt
    private let isReleased = Mutex(false)

    /// - Throws: `queue.unavailable` when another process has it.
    init(_ folder: StoreFolder, for command: String = "serve") throws {
        descriptor = unsafe open(folder.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFolder.refusal(folder.lock, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else { throw StoreFolder.refusal(folder.lock, code) }
            throw AttachPrepError(
                .queueUnavailable,
                "Another attachprep \(command) works on \(folder.path); stop it, or choose another --state.",
                isRetryable: false)
        }
    }

    deinit {
        release()
    }

    func release() {
        let isFirst = isReleased.withLock { isReleased in
            defer { isReleased = true }
            return !isReleased
        }
        if isFirst { close(descriptor) }
    }
}
