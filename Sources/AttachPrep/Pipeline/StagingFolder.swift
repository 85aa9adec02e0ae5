import Glibc
import Linux
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A hidden folder beside the results, in which one request's files are made; renamed into place whole, or removed.
///
/// Until it is published only this user can enter it: the output folder may be the system's for temporary files.
final class StagingFolder: Sendable {
    /// How the hidden folders are called.
    private static let prefix = ".attachprep-"

    private let folder: LockedFolder
    private let output: String
    var path: String { folder.path }

    /// Makes an empty folder inside the output folder, which is made when it is missing.
    ///
    /// - Throws: `output.not_writable`, `output.no_space`.
    init(output: String) throws {
        self.output = output
        do {
            folder = try Self.make(in: output)
        } catch let error as PrivateFolder.Failure {
            throw OutputFailure.error(error.code)
        }
    }

    private static func make(in output: String) throws -> LockedFolder {
        do {
            return try LockedFolder(in: output, prefix: prefix)
        } catch let failure where failure.code == ENOENT {
            try makeFolders(output)
            return try LockedFolder(in: output, prefix: prefix)
        }
    }

    /// Removes what stands under the hidden name: the files of a failure, or the earlier result after an exchange.
    ///
    /// Said when a request ends, because the last reference may be let go of while the process is leaving already.
    func discard() {
        folder.remove()
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
            guard unsafe fchmodat(folder.descriptor, name, 0o644 & ~umask, 0) == 0 else {
                throw OutputFailure.error(errno)
            }
        }
        guard fchmod(folder.descriptor, 0o755 & ~umask) == 0 else { throw OutputFailure.error(errno) }
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
        LockedFolder.sweep(output, prefix: prefix)
    }
}
