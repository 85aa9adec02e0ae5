import AttachPrepModel
import Glibc
import Linux
import MediaTypes

/// The empty file into which one rendition is written; opened by the parent process.
struct OutputFile {
    /// Open for reading and writing; borrowed.
    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Writes a rendition, or a part of it at an offset.
    ///
    /// - Parameter start: Offset in bytes.
    /// - Throws: `output.no_space` on a full disk, `output.not_writable` for any other error.
    func write(_ bytes: [UInt8], at start: Int = 0) throws {
        do { try FileIO.write(bytes, to: descriptor, at: start) } catch { throw Self.failure(error.code) }
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
