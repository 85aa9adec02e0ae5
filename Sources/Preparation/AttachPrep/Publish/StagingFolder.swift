import AttachPrepModel
import Curl
import FoundationEssentials
import Glibc
import Linux
import MediaTypes
import SafeArithmetic
import Synchronization

/// A folder that holds one request's files: hidden beside the results until it is renamed into place as a whole, or
/// under the name by which a caller takes its files over. Else it is removed.
///
/// Until it is published, only this user can enter it: the output folder may be the shared temporary folder.
final class StagingFolder: Sendable {
    /// Prefix of the hidden folders' names.
    private static let prefix = ".attachprep-"

    private let output: String
    let path: String
    /// Nil for a folder with its final name, which lies where one process alone works.
    private let hidden: LockedFolder?
    private let isHandedOver = Mutex(false)

    /// Creates an empty folder in the output folder, which is created if missing.
    ///
    /// - Parameter name: The name by which the caller takes the folder over; nil hides it until it is published.
    /// - Throws: `output.not_writable`, `output.no_space`.
    init(output: String, handedOverAs name: String? = nil) throws {
        self.output = output
        do {
            (path, hidden) = try Self.make(in: output, name)
        } catch let failure as PrivateFolder.CreationError where failure.code == ENOENT {
            try Self.makeFolders(output)
            (path, hidden) = try Self.make(in: output, name)
        } catch let failure as PrivateFolder.CreationError {
            throw OutputErrors.error(failure.code)
        }
    }

    /// Creates a folder with second names of the files of another one.
    ///
    /// - Throws: `output.not_writable`, also when a file is missing or has other content.
    convenience init(output: String, linking files: [PublishedFile], in folder: String) throws {
        try self.init(output: output)
        for file in files {
            let source = "\(folder)/\(file.name)"
            guard try isStored(file, at: source) else { throw OutputErrors.error(ENOENT) }
            try ContentLink.make(from: source, replacing: "\(path)/\(file.name)", in: path)
        }
    }

    /// Gives files second names in a folder, which is created for this user alone.
    func link(_ names: [String], into folder: String) throws {
        do { try PrivateFolder.make(folder, holding: []) } catch { throw OutputErrors.error(error.code) }
        for name in names {
            try ContentLink.make(from: "\(path)/\(name)", replacing: "\(folder)/\(name)", in: folder)
        }
    }

    private static func make(in output: String, _ name: String?) throws -> (String, LockedFolder?) {
        guard let name else {
            let folder = try LockedFolder(in: output, prefix: prefix)
            return (folder.path, folder)
        }
        let path = "\(output)/\(name)"
        guard unsafe mkdir(path, 0o700) == 0 else { throw PrivateFolder.CreationError(path: path, code: errno) }
        return (path, nil)
    }

    /// Removes the folder, unless it was handed over: the files of a failed request, or the earlier result after an
    /// exchange.
    ///
    /// Called explicitly at the end of a request: the process may exit before the last reference is released.
    func discard() {
        if let hidden { return hidden.remove() }
        if !isHandedOver.withLock({ $0 }) { PrivateFolder.remove(path) }
    }

    /// Creates an empty file, open for reading and writing; the caller closes it.
    func create(_ name: String) throws -> CInt {
        let descriptor = unsafe Glibc.open("\(path)/\(name)", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OutputErrors.error(errno) }
        return descriptor
    }

    /// The same without a name; the file is removed when its descriptor is closed.
    func createUnnamed() throws -> CInt {
        let name = UUID().uuidString
        let descriptor = try create(name)
        do { try remove(name) } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Opens a file of this folder read-only; the caller closes it.
    func open(_ name: String) throws -> CInt {
        let descriptor = unsafe Glibc.open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutputErrors.error(errno) }
        return descriptor
    }

    /// Gives a file its final name.
    func rename(_ name: String, to final: String) throws {
        guard unsafe Glibc.rename("\(path)/\(name)", "\(path)/\(final)") == 0 else { throw OutputErrors.error(errno) }
    }

    /// Copies a file within the folder.
    func copy(_ name: String, to other: String) throws {
        do {
            try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(path)/\(other)")
        } catch {
            throw AttachPrepError(
                .outputNotWritable, "An image could not be copied; check the output folder.", detail: "\(error)")
        }
    }

    /// Removes a file that is not delivered.
    func remove(_ name: String) throws {
        guard unsafe unlink("\(path)/\(name)") == 0 || errno == ENOENT else { throw OutputErrors.error(errno) }
    }

    /// Writes the manifest beside the files and returns its bytes.
    @discardableResult
    func write(_ manifest: Manifest) throws -> [UInt8] {
        let bytes = [UInt8](try manifest.json()) + [UInt8(ascii: "\n")]
        let descriptor = try create(Manifest.fileName)
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count == bytes.count else { throw OutputErrors.error(count < 0 ? errno : ENOSPC) }
        return bytes
    }

    /// Publishes files in the folder of files by content, so that each is there completely or not at all.
    ///
    /// A file that exists there is shared, so that equal files of many results are stored once. Its time is renewed, so
    /// that it can be removed by age.
    func publishContent(_ files: [PublishedFile]) throws {
        let folder = "\(output)/\(PublishedFile.contentFolder)"
        guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw OutputErrors.error(errno) }
        try applyDefaultFilePermissions(Self.umask)
        for file in files {
            let (own, shared) = ("\(path)/\(file.name)", "\(output)/\(file.contentPath)")
            if try isStored(file, at: shared) {
                try ContentLink.make(from: shared, replacing: own, in: path)
                _ = unsafe utimensat(AT_FDCWD, shared, nil, 0)
            } else {
                try ContentLink.make(from: own, replacing: shared, in: folder)
            }
        }
    }

    /// Whether there is an intact file of this user with this content.
    private func isStored(_ file: PublishedFile, at path: String) throws -> Bool {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid()
        else { return false }
        let content = TransferUpload(descriptor: descriptor, bytes: Int(clamping: status.st_size))
        return try UploadDigest.sha256(of: content) == file.sha256
    }

    /// Renames the folder to its final name in one step, replacing an earlier result of the same name.
    ///
    /// - Throws: `output.not_writable` when the name is taken by something that is not a result.
    func publish(as name: String) throws {
        let final = "\(output)/\(name)"
        try applyDefaultPermissions()
        do {
            if try AtomicRename.renameToNew(path, final: final) { return }
            guard unsafe access("\(final)/\(Manifest.fileName)", F_OK) == 0 else {
                throw AttachPrepError(
                    .outputNotWritable,
                    "\"\(name)\" exists in the output folder and is not a result; choose another folder or id.")
            }
            // The earlier result now has the hidden name, under which `discard` removes it.
            try AtomicRename.exchange(path, final)
        } catch let error as SystemError {
            throw OutputErrors.error(error.code)
        }
    }

    /// Leaves the folder to the caller: it stays private and has no manifest.
    func handOver() {
        isHandedOver.withLock { $0 = true }
    }

    /// Sets the permissions that new files and folders of this process have, umask included: a web server running as
    /// another user must be able to read them.
    private func applyDefaultPermissions() throws {
        let umask = Self.umask
        try applyDefaultFilePermissions(umask)
        guard unsafe chmod(path, 0o755 & ~umask) == 0 else { throw OutputErrors.error(errno) }
    }

    private func applyDefaultFilePermissions(_ umask: mode_t) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            guard unsafe chmod("\(path)/\(name)", 0o644 & ~umask) == 0 else { throw OutputErrors.error(errno) }
        }
    }

    /// Read from `/proc`, so once for all files of a folder.
    private static var umask: mode_t { ProcessFlags.umask ?? 0o022 }

    /// Creates the output folder and its parents.
    private static func makeFolders(_ path: String) throws {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += "\(part)/"
            guard unsafe mkdir(made, 0o755) == 0 || errno == EEXIST else { throw OutputErrors.error(errno) }
        }
    }

    /// Removes staging folders that killed processes left in an output folder.
    static func sweep(output: String) {
        LockedFolder.sweep(output, prefix: prefix)
    }
}

/// A second name of a file, which replaces another file in one step.
enum ContentLink {
    /// - Parameters:
    ///   - folder: A folder on the same file system, for a temporary name.
    /// - Throws: `output.not_writable`, `output.no_space`.
    static func make(from source: String, replacing target: String, in folder: String) throws {
        let temporary = "\(folder)/.\(UUID().uuidString)"
        defer { _ = unsafe unlink(temporary) }
        if unsafe link(source, temporary) != 0 {
            // Some file systems have no hard links, and others limit their number.
            do { try FileManager.default.copyItem(atPath: source, toPath: temporary) } catch {
                throw AttachPrepError(
                    .outputNotWritable, "A file could not be copied; check the output folder.", detail: "\(error)")
            }
        }
        guard unsafe rename(temporary, target) == 0 else { throw OutputErrors.error(errno) }
    }
}
