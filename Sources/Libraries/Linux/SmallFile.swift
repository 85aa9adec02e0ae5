import Glibc

/// Reads small files, such as tokens, at once.
package enum SmallFile {
    /// Milliseconds to wait for the next bytes of a pipe, such as `<(command)`.
    private static let waitMillisecondsMax: Int32 = 5_000

    /// The bytes of a file.
    ///
    /// - Parameter isRegular: whether pipes and devices are rejected.
    package static func bytes(
        of path: String, bytesMax: Int, isRegular: Bool = false
    ) throws(SmallFileError) -> [UInt8] {
        // Not blocking: the path may be that of a pipe.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(code: errno) }
        defer { close(descriptor) }
        if isRegular { try checkKind(descriptor) }
        return try bytes(from: descriptor, bytesMax: bytesMax)
    }

    /// The bytes up to the end of a file or pipe, from the descriptor's offset.
    ///
    /// - Parameter lineBytesMax: the longest line; reading ends at once within a longer one.
    package static func bytes(
        from descriptor: CInt, bytesMax: Int, lineBytesMax: Int = .max
    ) throws(SmallFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var (line, lineStart) = (1, 0)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            // Not `FileIO.read`: a pipe has no offsets.
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR || errno == EAGAIN && isReadable(descriptor) { continue }
            guard count >= 0 else { throw .unreadable(code: errno) }
            guard count > 0 else { return bytes }
            bytes += chunk.prefix(count)
            if lineBytesMax != .max {
                for index in chunk.indices.prefix(count) where chunk[index] == UInt8(ascii: "\n") {
                    (line, lineStart) = (line + 1, bytes.count - count + index + 1)
                }
                if bytes.count - lineStart > lineBytesMax { throw .lineTooLong(number: line) }
            }
            if bytes.count > bytesMax { throw .tooLarge }
        }
    }

    private static func checkKind(_ descriptor: Int32) throws(SmallFileError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable(code: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw .unreadable(code: EISDIR)
        default: throw .notRegular
        }
    }

    /// Waits until a pipe has bytes or is closed by its writer.
    private static func isReadable(_ descriptor: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, waitMillisecondsMax) > 0
    }

    /// The text of a file.
    package static func text(of path: String, bytesMax: Int) throws(SmallFileError) -> String {
        String(decoding: try bytes(of: path, bytesMax: bytesMax), as: UTF8.self)
    }

    /// An entry of a file with one entry a line.
    package struct Entry: Sendable, Hashable {
        /// Counted from 1.
        package let line: Int
        package let text: String
    }

    /// The entries of a file with one entry a line: without the white space around them, empty lines, and lines that
    /// begin with `#`.
    package static func entries(of path: String, bytesMax: Int) throws(SmallFileError) -> [Entry] {
        try text(of: path, bytesMax: bytesMax).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
            .map { index, line in
                let rest = line.drop(while: \.isWhitespace)
                let text = rest.lastIndex { !$0.isWhitespace }.map { rest[...$0] } ?? ""
                return Entry(line: index + 1, text: String(text))
            }
            .filter { !$0.text.isEmpty && !$0.text.hasPrefix("#") }
    }
}

/// A small file that was not read.
package enum SmallFileError: Error, Sendable, Hashable {
    /// With the call's `errno`.
    case unreadable(code: CInt)
    /// It is a pipe or a device.
    case notRegular
    /// It has more bytes than the caller allows.
    case tooLarge
    /// A line of it has more bytes than the caller allows; lines are counted from 1.
    case lineTooLong(number: Int)
}
