import Glibc

/// The error of a system call.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the call, such as `posix_spawn`.
    package let call: String
    /// The errno(3) value.
    package let code: CInt

    package init(_ call: String, code: CInt = errno) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(unsafe String(cString: strerror(code))) (errno \(code))" }
}
