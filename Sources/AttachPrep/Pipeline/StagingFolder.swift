import Glibc
import Linux
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A hidden folder beside the results, in which one request's files are made; renamed into place whole, or removed.
///
/// The folder is locked while its process lives, so that what a killed process left can be told and swept. Until it is
/// published only this user can enter it: the output folder may be the system's for temporary files.
final class StagingFolder: Sendable {
    /// How the hidden folders are called.
    private static let prefix = ".attachprep-"

    let path: String
    private let output: String
    /// Holds the lock.
    private let descriptor: CInt
    private let isDiscarded = Mutex(false)

    /// Makes an empty folder inside the output folder.
    ///
    /// - Throws: `output.not_writable`, `output.no_space`.
    init(output: String) throws {
        var made = try Self.makeLocked(in: output)
        // Another run may sweep the folder between its making and its locking.
        for _ in 0..<Self.sweptTriesMax where made == nil { made = try Self.makeLocked(in: output) }
        guard let made else { throw OutputFailure.error(EBUSY) }
        self.output = output
        path = made.path
        descriptor = made.descriptor
    }

    /// Each try has a name of its own: to be swept twice is next to impossible.
    private static let sweptTriesMax = 5

    /// A new folder and the descriptor that holds its lock; nil when it was swept before it was locked.
    private static func makeLocked(in output: String) throws -> (path: String, descriptor: CInt)? {
        let path = "\(output)/\(prefix)\(UUID().uuidString)"
        if unsafe mkdir(path, 0o700) != 0 {
            guard errno == ENOENT else { throw OutputFailure.error(errno) }
            try makeFolders(output)
            guard unsafe mkdir(path, 0o700) == 0 else { throw OutputFailure.error(errno) }
        }
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0, unsafe access(path, F_OK) == 0 {
            return (path, descriptor)
        }
        let code = errno
        if descriptor >= 0 { close(descriptor) }
        unsafe rmdir(path)
        guard code == ENOENT || code == EWOULDBLOCK else { throw OutputFailure.error(code) }
        return nil
    }

    deinit {
        discard()
        close(descriptor)
    }

    /// Removes what stands under the hidden name: the files of a failure, or the earlier result after an exchange.
    ///
    /// Said when a request ends, because the last reference may be let go of while the process is leaving already.
    func discard() {
        let isFirst = isDiscarded.withLock { isDiscarded in
            defer { isDiscarded = true }
            return !isDiscarded
        }
        if isFirst { try? FileManager.default.removeItem(atPath: path) }
    }

    /// A new empty file, open for reading and writing; the caller closes it.
    func create(_ name: String) throws -> CInt {
        let descriptor = unsafe Glibc.open("\(path)/\(name)", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OutputFailure.error(errno) }
        return descriptor
    }

    /// The same without a name: it goes with its descriptor.
    func createNameless() throws -> CInt {
        let name = UUID().uuidString
        let descriptor = try create(name)
        do { try remove(name) } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// A file of this folder, open for reading alone; the caller closes it.
    func open(_ name: String) throws -> CInt {
        let descriptor = unsafe Glibc.open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutputFailure.error(errno) }
        return descriptor
    }

    /// Gives a file its final name.
    func rename(_ name: String, to final: String) throws {
        guard unsafe Glibc.rename("\(path)/\(name)", "\(path)/\(final)") == 0 else { throw OutputFailure.error(errno) }
    }

    /// A second file of the same bytes.
    func copy(_ name: String, to other: String) throws {
        do {
            try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(path)/\(other)")
        } catch {
            throw AttachPrepError(
                .outputNotWritable, "A picture could not be copied; check the output folder.", detail: "\(error)")
        }
    }

    /// Removes a file that is not delivered.
    func remove(_ name: String) throws {
        guard unsafe unlink("\(path)/\(name)") == 0 || errno == ENOENT else { throw OutputFailure.error(errno) }
    }

    /// Writes the manifest beside the files, and says what was written.
    @discardableResult
    func write(_ manifest: Manifest) throws -> [UInt8] {
        let bytes = [UInt8](try manifest.json()) + [UInt8(ascii: "\n")]
        let descriptor = try create(Manifest.fileName)
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count == bytes.count else { throw OutputFailure.error(count < 0 ? errno : ENOSPC) }
        return bytes
    }

    /// Puts the folder in its final place in one step, over an earlier result of the same name.
    ///
    /// - Throws: `output.not_writable` when something that is not a result of ours stands there.
    func publish(as name: String) throws {
        let final = "\(output)/\(name)"
        try openUp()
        do {
            if try PathExchange.renameToNew(path, final) { return }
            guard unsafe access("\(final)/\(Manifest.fileName)", F_OK) == 0 else {
                throw AttachPrepError(
                    .outputNotWritable,
                    "The output folder has a \"\(name)\" that is not a result; choose another folder or id.")
            }
            // The earlier result now has our hidden name, and goes with this object.
            try PathExchange.exchange(path, final)
        } catch let error as SystemError {
            throw OutputFailure.error(error.code)
        }
    }

    /// Gives files and folder the rights that a new file and a new folder have for this process: a web server of
    /// another user delivers them, unless the umask says otherwise.
    private func openUp() throws {
        let umask = ProcessFlags.umask ?? 0o022
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            guard unsafe fchmodat(descriptor, name, 0o644 & ~umask, 0) == 0 else { throw OutputFailure.error(errno) }
        }
        guard fchmod(descriptor, 0o755 & ~umask) == 0 else { throw OutputFailure.error(errno) }
    }

    /// Makes the output folder and those above it.
    private static func makeFolders(_ path: String) throws {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += "\(part)/"
            guard unsafe mkdir(made, 0o755) == 0 || errno == EEXIST else { throw OutputFailure.error(errno) }
        }
    }

    /// Removes what processes that were killed have left in an output folder.
    static func sweep(output: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: output)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(output)/\(name)"
            let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            // In a folder for temporary files another user could have made it, to have his own choice removed.
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid() else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: path) }
        }
    }
}
