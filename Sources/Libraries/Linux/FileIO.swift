import Glibc

/// Reads and writes parts of a file through a borrowed descriptor, whose own offset does not change.
///
/// Calls that a signal interrupted are repeated. Source: `pread(2)`, `pwrite(2)`.
package enum FileIO {
    /// Reads up to the buffer's size with one call.
    ///
    /// - Returns: The number of bytes; 0 at the end of the file.
    package static func read(
        _ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileIOError) -> Int {
        while true {
            let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw FileIOError(code: errno) }
        }
    }

    /// The file's size in bytes. Source: `fstat(2)`.
    package static func size(of descriptor: CInt) throws(FileIOError) -> Int64 {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileIOError(code: errno) }
        return Int64(clamping: status.st_size)
    }

    /// Reads `count` bytes; fewer at the end of the file.
    package static func bytes(_ descriptor: CInt, at offset: Int, count: Int) throws(FileIOError) -> [UInt8] {
        var failure: FileIOError?
        let found = unsafe [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            do throws(FileIOError) {
                filled = try unsafe fill(raw, from: descriptor, at: offset)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return found
    }

    /// Reads until the buffer is full or the file ends, and returns the number of bytes.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from descriptor: CInt, at offset: Int
    ) throws(FileIOError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try unsafe read(descriptor, into: rest, at: offset + filled)
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Writes all bytes.
    ///
    /// - Throws: As `write` of a buffer.
    package static func write(_ bytes: [UInt8], to descriptor: CInt, at offset: Int) throws(FileIOError) {
        let written = unsafe bytes.withUnsafeBytes { buffer in
            Result { () throws(FileIOError) in try unsafe write(buffer, to: descriptor, at: offset) }
        }
        try written.get()
    }

    /// Writes all bytes of a buffer.
    ///
    /// - Throws: The error of the first call that fails; `EIO` for one that writes nothing.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at offset: Int
    ) throws(FileIOError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + written))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileIOError(code: count == 0 ? EIO : errno) }
            written += count
        }
    }
}

/// A file that could not be read or written.
package struct FileIOError: Error, Sendable, Hashable {
    /// The call's `errno`.
    package let code: CInt
}
