import ArgumentParser
import Glibc

/// A file that the command line names, or standard input for `-`.
struct InputFile {
    let path: String
    /// What it holds, as sentences call it: `list`.
    let name: String
    /// What to give instead: `a file of sources`.
    let remedy: String

    /// Its bytes; of one that is longer than the limit just so many that this can be seen.
    ///
    /// - Throws: `ValidationError` when it cannot be read.
    func bytes(max bytesMax: Int = .max) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ValidationError("The \(name) \(path) cannot be opened; check its name.") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= bytesMax {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ValidationError("The \(name) \(path) cannot be read; give \(remedy).") }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }
}
