import Glibc
import Synchronization

/// Results on standard output, everything else on standard error.
enum StandardStreams {
    /// What `--color` says.
    static var colour: ColourChoice {
        get { choice.withLock { $0 } }
        set { choice.withLock { $0 = newValue } }
    }
    private static let choice = Mutex(ColourChoice.auto)

    /// Who reads standard output, looked at anew each time: windows change their size.
    static var output: Display { display(STDOUT_FILENO) }

    /// Who reads standard error.
    static var errors: Display { display(STDERR_FILENO) }

    /// Writes a line of a result.
    static func result(_ line: String) {
        write(line + "\n", to: STDOUT_FILENO)
    }

    /// Writes a result that has no width: a terminal breaks its lines.
    static func result(_ paragraphs: [StyledText]) {
        let display = output
        result(paragraphs.map(display.paragraph).joined(separator: "\n"))
    }

    /// Writes rows of a result, which a terminal's width cuts.
    ///
    /// - Parameter isFirst: whether no part of the same table was written before.
    static func result(_ table: TextTable, isFirst: Bool = true) {
        let display = output
        for line in table.lines(for: display, hasHead: isFirst) { result(display.paragraph(line)) }
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

    private static func display(_ descriptor: CInt) -> Display {
        let columns = isatty(descriptor) == 1 ? columns(of: descriptor) : nil
        return Display(columns: columns, colour: colour) { name in
            // Nobody changes the environment while the command runs.
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }
    }

    /// 80 when the terminal does not say.
    private static func columns(of descriptor: CInt) -> Int {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
