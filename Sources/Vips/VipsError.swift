import CVips

/// What libvips said when a call failed: for the log, never for a caller.
///
/// The text is one buffer of the whole process (`libvips/iofuncs/error.c`), so it may be another job's: what went wrong
/// is decided by which call failed, never by the text.
package struct VipsError: Error, Sendable, CustomStringConvertible {
    /// The operation that failed, as libvips names it.
    package let operation: String
    /// libvips' own words.
    package let text: String

    package var description: String { "libvips \(operation): \(text)" }

    /// Takes the text out of libvips' buffer, in one step under its lock.
    init(_ operation: String) {
        self.operation = operation
        guard let copy = unsafe vips_error_buffer_copy() else {
            text = ""
            return
        }
        text = unsafe String(cString: copy).split(separator: "\n").joined(separator: "; ")
        unsafe g_free(copy)
    }
}

/// Throws unless a libvips call returned 0.
func check(_ code: CInt, _ operation: String) throws(VipsError) {
    guard code == 0 else { throw VipsError(operation) }
}
