import AttachPrepModel
import Glibc
import RichPush

/// The empty file into which one rendition is written; opened by the parent process.
struct OutputFile {
    /// Open for reading and writing; borrowed.
    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Writes a rendition, or a part of it at an offset.
    ///
    /// - Parameter place: Offset in bytes.
    /// - Throws: `output.no_space` on a full disk, `output.not_writable` for any other error.
    func write(_ bytes: [UInt8], at place: Int = 0) throws {
        // Bounded throughout: bytes in memory, and an offset in the output file.
        var offset = 0
        while offset < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    descriptor, buffer.baseAddress.map { unsafe $0 + offset }, buffer.count - offset,
                    off_t(place + offset))
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.failure(errno) }
            offset += written
        }
    }

    static func failure(_ code: CInt) -> AttachPrepError {
        let isFull = code == ENOSPC || code == EDQUOT || code == EFBIG
        return isFull
            ? AttachPrepError(
                .outputNoSpace, "The output disk is full; free some space and try again.", detail: "errno \(code)")
            : AttachPrepError(
                .outputNotWritable, "A rendition could not be written; check the output folder.",
                detail: "errno \(code)")
    }
}
