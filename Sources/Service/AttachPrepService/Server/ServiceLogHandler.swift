internal import AttachPrep
internal import FoundationEssentials
internal import Glibc
public import Logging
internal import OTLP
internal import SafeArithmetic
internal import Synchronization

/// Writes the service's log to standard error, one line per event, as text or JSON.
///
/// In JSON, metadata that is given as a number (`.stringConvertible(3)`) is a number. Durations are milliseconds, in
/// keys that end with that word.
struct ServiceLogHandler: LogHandler {
    /// The level of this handler if it was set, else the level of the process.
    var logLevel: Logger.Level {
        get { ownLevel ?? processLevel.value }
        set { ownLevel = newValue }
    }
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    private var ownLevel: Logger.Level?
    private let processLevel: ProcessLogLevel
    private let format: ServeConfiguration.LogFormat
    private let output: LogOutput
    private let now: @Sendable () -> Date

    init(
        format: ServeConfiguration.LogFormat, logLevel: ProcessLogLevel, output: LogOutput,
        now: @escaping @Sendable () -> Date
    ) {
        self.format = format
        processLevel = logLevel
        self.output = output
        self.now = now
    }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // Precedence: metadata of the event, of the logger, of the task.
        let provided = metadataProvider?.get() ?? [:]
        var merged = provided.merging(metadata) { $1 }.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { merged["error"] = merged["error"] ?? "\(error)" }
        let line = LogLine(date: now(), level: event.level, message: event.message.description, metadata: merged)
        output.write(line.text(format))
    }
}

extension Logger {
    package static var silent: Logger { Logger(label: "attachprep") { _ in SwiftLogNoOpLogHandler() } }

    /// A command's logger, which writes messages of this level and above to standard error.
    package static func standardError(_ level: Logger.Level) -> Logger {
        Logger(label: "attachprep") { _ in
            ServiceLogHandler(
                format: .text, logLevel: ProcessLogLevel(level), output: .standardError, now: { Date() })
        }
    }

    /// The logger of a server, from the given level on; lines within a trace have its `trace_id` and `span_id`.
    public init(label: String, _ configuration: ServeConfiguration, _ level: ProcessLogLevel) {
        self.init(label: label) { _ in
            var handler = ServiceLogHandler(
                format: configuration.logFormat, logLevel: level, output: .standardError, now: { Date() })
            if configuration.tracing != nil { handler.metadataProvider = OTLPTracer.metadataProvider }
            return handler
        }
    }
}

/// The level of a process's log, which can be changed while loggers use it.
public final class ProcessLogLevel: Sendable {
    private let index: Atomic<Int>

    public init(_ level: Logger.Level) {
        index = Atomic(Self.index(of: level))
    }

    public var value: Logger.Level { Logger.Level.allCases[index.load(ordering: .relaxed)] }

    public func change(to level: Logger.Level) { index.store(Self.index(of: level), ordering: .relaxed) }

    private static func index(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}

struct LogLine {
    /// A value of a line.
    private enum Value {
        case text(String)
        /// As JSON writes it.
        case number(String)

        var text: String {
            switch self {
            case .text(let text), .number(let text): text
            }
        }
    }

    let date: Date
    let level: Logger.Level
    let message: String
    let metadata: Logger.Metadata

    /// The line, with exactly one line feed, at its end.
    func text(_ format: ServeConfiguration.LogFormat) -> String {
        switch format {
        case .text: plain
        case .json: json
        }
    }

    private var plain: String {
        let values = flattened.map { " \(Self.bare($0.key))=\(Self.quoted($0.value.text))" }.joined()
        return "\(Timestamp.text(date)) \(level.rawValue) \(Self.safe(Self.bounded(message)))\(values)\n"
    }

    /// Metadata keys equal to `time`, `level` or `message` get an underscore appended, so that keys are unique.
    private var json: String {
        var fields: [(key: String, value: Value)] = [
            ("time", .text(Timestamp.text(date))), ("level", .text(level.rawValue)),
            ("message", .text(Self.bounded(message))),
        ]
        let own = Set(fields.map(\.key))
        fields += flattened.map { (own.contains($0.key) ? "\($0.key)_" : $0.key, $0.value) }
        return "{\(fields.map { "\(Self.jsonText($0.key)):\(Self.json($0.value))" }.joined(separator: ","))}\n"
    }

    /// Sorted by key; nested values get the key `outer.inner`, list elements `key.index`.
    private var flattened: [(key: String, value: Value)] {
        metadata.flatMap { Self.flatten($0.key, value: $0.value) }.sorted { $0.key < $1.key }
    }

    private static func flatten(_ key: String, value: Logger.MetadataValue) -> [(key: String, value: Value)] {
        switch value {
        case .string(let text): [(key, .text(Self.bounded(text)))]
        case .stringConvertible(let value as any BinaryInteger): [(key, .number("\(value)"))]
        case .stringConvertible(let value as Double) where value.isFinite: [(key, .number("\(value)"))]
        case .stringConvertible(let value): [(key, .text(Self.bounded(value.description)))]
        case .dictionary(let inner): inner.flatMap { flatten("\(key).\($0.key)", value: $0.value) }
        case .array(let inner): inner.enumerated().flatMap { flatten("\(key).\($0.offset)", value: $0.element) }
        }
    }

    /// Cut to the limit; escaped by each format in its way.
    private static func bounded(_ text: String) -> String {
        guard text.utf8.count > MessageText.messageBytesMax else { return text }
        return MessageText.message(text)
    }

    // MARK: Text

    private static func safe(_ text: String) -> String { isPlain(text) ? text : text.escapingControls }

    /// Quotes a value with spaces, quotes, `=` or backslashes, so that `key=value` pairs can be parsed.
    private static func quoted(_ text: String) -> String {
        let safe = safe(text)
        let isBare = !safe.isEmpty && !safe.contains { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }
        guard !isBare else { return safe }
        return "\"\(safe.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    private static func bare(_ key: String) -> String {
        safe(key).replacing(" ", with: "_").replacing("=", with: "_")
    }

    /// Fast path for most texts: printable ASCII without quotes and backslashes needs no escaping.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { 0x20..<0x7f ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    // MARK: JSON

    private static func json(_ value: Value) -> String {
        switch value {
        case .text(let text): jsonText(text)
        case .number(let text): text
        }
    }

    private static func jsonText(_ text: String) -> String {
        guard !isPlain(text) else { return "\"\(text)\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isEscaped(scalar): result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Escapes more than JSON requires: also line separators and characters that terminals interpret.
    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

extension String {
    /// Escapes control, bidirectional and invisible characters as `\u{…}`, which prevents forged log lines and terminal
    /// escape sequences.
    package var escapingControls: String {
        unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

/// Writes whole lines to a file descriptor, serialized across threads.
final class LogOutput: Sendable {
    private let descriptor: CInt
    private let lock = Mutex(())

    /// - Parameter descriptor: stays open; the caller owns it.
    init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    static let standardError = LogOutput(STDERR_FILENO)

    /// Writes a line; it is dropped if it cannot be written, since there is no other output for the error.
    func write(_ line: String) {
        let bytes = Array(line.utf8)
        lock.withLock { _ in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
