import ArgumentParser
import AttachPrepModel
import AttachPrepService
import Glibc
import Linux
import MediaTypes
import Synchronization

/// Results on standard output, everything else on standard error.
enum StandardStreams {
    /// The value of `--color`.
    static var color: ColorChoice {
        get { choice.withLock { $0 } }
        set { choice.withLock { $0 = newValue } }
    }
    private static let choice = Mutex(ColorChoice.auto)

    /// The display behind standard output, queried each time, since a terminal's size can change.
    static var output: Display { display(STDOUT_FILENO) }

    /// The display behind standard error.
    static var errors: Display { display(STDERR_FILENO) }

    /// Writes a line of a result: JSON, or text of our own.
    static func result(_ line: String) {
        write(line.escapingC1Controls + "\n", to: STDOUT_FILENO)
    }

    /// Writes a rewritten payload, byte for byte unless it is shown on a terminal.
    ///
    /// - Parameter isLine: Whether a line end follows, which a terminal gets in any case.
    static func payload(_ json: String, isLine: Bool) {
        let isShown = isatty(STDOUT_FILENO) == 1
        write((isShown ? json.escapingC1Controls : json) + (isShown || isLine ? "\n" : ""), to: STDOUT_FILENO)
    }

    /// Writes a result whose lines are not cut to the terminal's width.
    static func result(_ paragraphs: [StyledText]) {
        let display = output
        result(paragraphs.map(display.paragraph).joined(separator: "\n"))
    }

    /// Writes a table, cut to the terminal's width.
    ///
    /// - Parameter isFirst: whether this is the first part of the table.
    static func result(_ table: TextTable, isFirst: Bool = true) {
        let display = output
        for line in table.lines(for: display, hasHead: isFirst) { result(display.paragraph(line)) }
    }

    /// Writes a line to standard error.
    static func printNote(_ line: String) {
        write(line + "\n", to: STDERR_FILENO)
    }

    /// Writes an error message to standard error.
    static func error(_ message: String) {
        printNote("attachprep: \(message.escapingControls)")
    }

    /// Writes text without a line end to standard error, for the progress bar.
    static func raw(_ text: String) {
        write(text, to: STDERR_FILENO)
    }

    /// Whether writing a result failed, as on a full disk; a closed pipe does not count.
    static var hasLostResults: Bool { lostResults.load(ordering: .relaxed) }
    private static let lostResults = Atomic(false)

    /// Writes text. A closed pipe, as with `head`, is not an error: the files are the result, and processing continues.
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
        return Display(columns: columns, color: color) { name in
            // Safe: nothing in the process modifies the environment.
            unsafe getenv(name).map { unsafe String(cString: $0) }
        }
    }

    /// The terminal's width; 80 if it is unknown.
    private static func columns(of descriptor: CInt) -> Int {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

extension String {
    /// With DEL and C1 controls as `\u0085`, which means the same in JSON. `JSONEncoder` escapes only C0 controls, but
    /// terminals obey both.
    fileprivate var escapingC1Controls: String {
        guard unicodeScalars.contains(where: { 0x7F...0x9F ~= $0.value }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if 0x7F...0x9F ~= scalar.value {
                text += "\\u00" + String(scalar.value, radix: 16)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

/// The properties of an output stream: a terminal, a file or a pipe.
struct Display: Sendable, Hashable {
    /// The terminal's width; nil for files and pipes, where nothing is cut.
    var columns: Int?
    var isColored = false
    /// Whether non-ASCII characters can be shown.
    var isUTF8 = true
    /// Whether a line can be redrawn in place.
    var canRedraw = false

    /// The ellipsis for cut text.
    var mark: String { isUTF8 ? "…" : "..." }

    /// One line of a list: cut to the terminal's width.
    func row(_ text: StyledText) -> String {
        paragraph(columns.map { text.cut(to: $0, mark: mark) } ?? text)
    }

    /// A line that is not cut.
    func paragraph(_ text: StyledText) -> String { isColored ? text.painted : text.plain }
}

extension Display {
    /// Derives the properties from the stream, the environment and `--color`.
    ///
    /// - Parameters:
    ///   - columns: the terminal's width; nil without a terminal.
    ///   - environment: returns the value of a variable, nil if it is not set.
    init(columns: Int?, color: ColorChoice, environment: (String) -> String?) {
        let terminal = environment("TERM") ?? ""
        // Without TERM no capabilities are assumed.
        let isCapable = columns != nil && !terminal.isEmpty && terminal != "dumb"
        // https://no-color.org: present and not empty.
        let isWanted = (environment("NO_COLOR") ?? "").isEmpty
        self.columns = columns
        isColored = color == .always || (color == .auto && isCapable && isWanted)
        isUTF8 = Self.isUTF8(environment)
        canRedraw = isCapable
    }

    /// The first of LC_ALL, LC_CTYPE and LANG that is set decides, as in setlocale(3).
    private static func isUTF8(_ environment: (String) -> String?) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(environment).first { !$0.isEmpty } ?? ""
        let name = locale.uppercased()
        return name.contains("UTF-8") || name.contains("UTF8")
    }
}

/// A file named on the command line, or standard input for `-`.
struct InputFile {
    let path: String
    /// The file's role, for error messages: `list`.
    let name: String
    /// What to give instead, for error messages: `a file of sources`.
    let remedy: String

    /// The content.
    ///
    /// - Throws: `ValidationError` if it cannot be read, is too large, or has a line that is.
    func bytes(lineBytesMax: Int = .max) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ValidationError("Cannot open the \(name) \(path); check its path.") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        do {
            return try SmallFile.bytes(from: descriptor, bytesMax: Limits.inputFileBytesMax, lineBytesMax: lineBytesMax)
        } catch .lineTooLong(let number) {
            throw ValidationError(
                "Line \(number) of the \(name) \(path) is over the limit of \(lineBytesMax.grouped) bytes; give "
                    + "\(remedy).")
        } catch .tooLarge {
            throw ValidationError(
                "The \(name) \(path) is over the limit of \(Limits.inputFileBytesMax.grouped) bytes; split it, or give "
                    + "\(remedy).")
        } catch {
            throw ValidationError("Cannot read the \(name) \(path); give \(remedy).")
        }
    }
}

extension Limits {
    /// Bytes of a list of sources or of payloads, which is held in memory: 100,000 payloads of 2.5 KB.
    static let inputFileBytesMax = 256_000_000
}

/// When text output is colored.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// On a capable terminal, unless `NO_COLOR` is set.
    case auto
    case always
    case never
}

/// How the program ends.
enum ExitCodeError: Int32, Error {
    /// Success.
    case ready = 0
    /// Some sources were rejected or something failed; for `inspect`: a source would be rejected; for `doctor`: a
    /// problem was found.
    case someRejected = 1
    /// Invalid command line.
    case wrongUsage = 2
    /// Ctrl-C.
    case interrupted = 130
}
