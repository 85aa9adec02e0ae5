import AttachPrep
import Glibc
import RichPush
import SafeArithmetic
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Copies of uploads, each as long as somebody uses it.
extension UploadFolder {
    /// Makes a file in progress the copy of an upload; one that cannot be goes.
    func place(_ path: String, as id: MediaID, at date: Date) async throws {
        let copy = self.path(id)
        try await lane.run {
            Self.touch(path, at: date)
            guard unsafe rename(path, copy) != 0 else { return }
            let code = errno
            unsafe unlink(path)
            throw StoreFault.file(code)
        }
    }

    /// Whether there is a copy of that length; one that is used stays for another while.
    func use(_ id: MediaID, bytes: Int, at date: Date) async throws -> Bool {
        let copy = path(id)
        return try await lane.run {
            guard ContentFiles.size(copy) == bytes else { return false }
            Self.touch(copy, at: date)
            return true
        }
    }

    /// Does what brings an upload here; who asks for the same one meanwhile waits for that.
    func bring(_ id: MediaID, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let task = fetches.withLock { fetches -> Task<Void, any Error> in
            if let task = fetches[id] { return task }
            let task = Task {
                defer { self.forget(id) }
                try await work()
            }
            fetches[id] = task
            return task
        }
        try await task.value
    }

    private func forget(_ id: MediaID) {
        fetches.withLock { $0[id] = nil }
    }

    /// Removes copies that nobody has used for long.
    @discardableResult
    func sweep(at date: Date) async throws -> [RemovedFile] {
        // Bounded: a clock of this machine, less or more than a limit.
        let (folder, oldest) = (folder, date.milliseconds - Int64(Limits.uploadCopySecondsMax * 1000))
        return try await lane.run {
            ContentFiles.names(folder).compactMap { name -> RemovedFile? in
                let path = "\(folder)/\(name)"
                guard MediaID(name) != nil, let usedAt = Self.usedAt(path), usedAt <= oldest else { return nil }
                let bytes = ContentFiles.size(path) ?? 0
                return unsafe unlink(path) == 0 ? RemovedFile(name: name, bytes: bytes) : nil
            }
        }
    }

    /// Milliseconds since 1970; nil for what is not there.
    private static func usedAt(_ path: String) -> Int64? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        // Bounded: a time of the kernel's, of which 64 bits hold 292 million years.
        return Int64(clamping: status.st_mtim.tv_sec).multiplied(clamping: 1000) + Int64(status.st_mtim.tv_nsec)
            / 1_000_000
    }

    /// By the queue's own clock, by which it is swept as well.
    private static func touch(_ path: String, at date: Date) {
        let milliseconds = date.milliseconds
        // Bounded: a time of the kernel's, of which 64 bits hold 292 million years.
        let time = timeval(tv_sec: Int(milliseconds / 1000), tv_usec: Int(milliseconds % 1000) * 1000)
        _ = unsafe utimes(path, [time, time])
    }
}
