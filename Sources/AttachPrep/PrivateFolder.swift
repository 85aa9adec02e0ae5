import Glibc

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Folders that only the user of this process can enter, whatever its umask is.
package enum PrivateFolder {
    /// A folder could not be made: which one, and why.
    package struct Failure: Error {
        package let path: String
        /// Of errno(3).
        package let code: CInt
    }

    /// Makes a folder and those above it that are missing, each with mode 0700.
    ///
    /// One that is there, that this user owns and that has nothing of others in it gets mode 0700 as well. Any other
    /// stays as it is, such as a volume that a container was given: what is made in it is private by itself.
    /// - Parameter names: how entries of ours are called; `lost+found` is nobody's.
    package static func make(_ path: String, holding names: Set<String>) throws(Failure) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += "\(part)/"
            try makeOne(made)
        }
        tighten(path, holding: names)
    }

    private static func makeOne(_ path: String) throws(Failure) {
        guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let code = errno
        // On a read-only disk this is said of folders that are there, too.
        guard unsafe access(path, F_OK) == 0 else { throw Failure(path: path, code: code) }
    }

    private static func tighten(_ path: String, holding names: Set<String>) {
        // Held open, so that what is looked at is what is changed.
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 != 0,
            // The system's folder for temporary files, which root owns.
            status.st_mode & S_ISVTX == 0,
            let entries = try? FileManager.default.contentsOfDirectory(atPath: path),
            entries.allSatisfy({ names.contains($0) || $0 == "lost+found" })
        else { return }
        fchmod(descriptor, 0o700)
    }
}
