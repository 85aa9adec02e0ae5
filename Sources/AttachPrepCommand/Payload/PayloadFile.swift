import ArgumentParser
import Glibc
import RichPush

/// The file that holds a payload.
enum PayloadFile {
    /// Reads a file, or standard input for `-`, and of a long one just enough to see that it is too long.
    ///
    /// - Throws: `ValidationError` when it cannot be read.
    static func read(_ path: String) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ValidationError("The payload \(path) cannot be opened; check its name.") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= Limits.payloadInputBytesMax {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ValidationError("The payload \(path) cannot be read; give a JSON file.") }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }
}
