import Glibc
import Synchronization

/// Results on standard output, everything else on standard error.
enum StandardStreams {
    /// Writes a line of a result.
    static func result(_ line: String) {
        write(line + "\n", to: STDOUT_FILENO)
    }

    /// Writes a line for a person.
    static func note(_ line: String) {
        write(line + "\n", to: STDERR_FILENO)
    }

    /// Writes text as it is, without a line end: for the progress bar.
    static func raw(_ text: String) {
        write(text, to: STDERR_FILENO)
    }

    /// Whether a result could not be written, as on a full disk; a reader that went away does not count.
    static var hasLostResults: Bool { lostResults.load(ordering: .relaxed) }
    private static let lostResults = Atomic(false)

    /// A reader that has seen enough, as `head` has, is no failure: the files are the result, and the work goes on.
    private static func write(_ text: String, to descriptor: CInt) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else {
                if descriptor == STDOUT_FILENO, errno != EPIPE { lostResults.store(true, ordering: .relaxed) }
                return
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Whether a person watches standard error.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Columns of the terminal behind standard error, 80 when it does not say.
    static var columns: Int {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
