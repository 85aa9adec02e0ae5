import Glibc

/// A system call that failed: which, and errno's number.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call, as in `posix_spawn`.
    package let call: String
    /// errno.
    package let code: CInt

    package init(_ call: String, code: CInt = errno) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(unsafe String(cString: strerror(code))) (errno \(code))" }
}
