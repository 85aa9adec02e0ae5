import Glibc

/// Reads small files, such as tokens, at once.
package enum SmallFile {
    /// Milliseconds to wait for the next bytes of a pipe, such as `<(command)`.
    private static let waitMillisecondsMax: Int32 = 5_000

    /// The bytes of a file, truncated after `bytesMax`; nil if it cannot be read.
    package static func bytes(of path: String, bytesMax: Int) -> [UInt8]? {
        // Not blocking: the path may be that of a pipe.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < bytesMax {
            // Not `FileIO.read`: a pipe has no offsets.
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR || errno == EAGAIN && isReadable(descriptor) { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            // Bounded: array concatenation.
            bytes += chunk.prefix(count)
        }
        return Array(bytes.prefix(bytesMax))
    }

    /// Waits until a pipe has bytes or is closed by its writer.
    private static func isReadable(_ descriptor: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, waitMillisecondsMax) > 0
    }

    /// The text of a file, truncated after `bytesMax` bytes; nil if it cannot be read.
    package static func text(of path: String, bytesMax: Int) -> String? {
        bytes(of: path, bytesMax: bytesMax).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The entries of a file with one entry a line: without the white space around them, empty lines, and lines that
    /// begin with `#`.
    ///
    /// - Returns: Nil if the file cannot be read or is larger than `bytesMax`.
    package static func entries(of path: String, bytesMax: Int) -> [Substring]? {
        // Bounded: a constant of the caller.
        guard let bytes = bytes(of: path, bytesMax: bytesMax + 1), bytes.count <= bytesMax else { return nil }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { line in
                let rest = line.drop(while: \.isWhitespace)
                return rest.lastIndex { !$0.isWhitespace }.map { rest[...$0] } ?? ""
            }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
