import CMagic

/// A failed libmagic call with libmagic's error text, for the log.
package struct MagicError: Error, Sendable, CustomStringConvertible {
    package let operation: String
    package let text: String

    package var description: String { "libmagic \(operation): \(text)" }
}

/// A loaded magic database; owns a magic_t and must stay on one thread.
///
/// C: `magic_open`, `magic_load`, `magic_buffer`.
@safe package final class MagicCookie {
    private let cookie: magic_t

    /// Opens the system's database.
    package init() throws(MagicError) {
        guard let cookie = unsafe magic_open(Self.flags) else {
            throw MagicError(operation: "open", text: "no memory")
        }
        unsafe self.cookie = cookie
        guard unsafe magic_load(cookie, nil) == 0 else { throw failure("load") }
    }

    deinit {
        unsafe magic_close(cookie)
    }

    /// Reports the MIME type only; compressed data, tar and CDF archives are not opened, and devices are not read.
    private static let flags =
        MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_ELF
        | MAGIC_NO_CHECK_APPTYPE | MAGIC_NO_CHECK_TOKENS

    /// The MIME type of a file that begins with these bytes; `application/octet-stream` if unknown.
    package func mimeType(of bytes: [UInt8]) throws(MagicError) -> String {
        let name = unsafe bytes.withUnsafeBytes { buffer in
            unsafe magic_buffer(cookie, buffer.baseAddress, buffer.count)
        }
        guard let name = unsafe name else { throw failure("buffer") }
        return unsafe String(cString: name)
    }

    private func failure(_ operation: String) -> MagicError {
        let text = unsafe magic_error(cookie).map { unsafe String(cString: $0) }
        return MagicError(operation: operation, text: text ?? "no text")
    }

    /// libmagic's version, as in `5.44`.
    package static var version: String {
        let number = magic_version()
        let minor = number % 100
        return "\(number / 100).\(minor < 10 ? "0" : "")\(minor)"
    }
}
