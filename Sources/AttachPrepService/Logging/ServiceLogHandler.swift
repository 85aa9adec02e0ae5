public import Logging

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes the service's log: to standard error, a line for each event, as text or as JSON.
///
/// ```swift
/// LoggingSystem.bootstrap { ServiceLogHandler(label: $0, format: .json, logLevel: .info) }
/// ```
public struct ServiceLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?

    private let format: ServeConfiguration.LogFormat
    private let output: LogOutput
    private let now: @Sendable () -> Date

    /// - Parameter label: not written: one process, one log.
    public init(label: String, format: ServeConfiguration.LogFormat, logLevel: Logger.Level = .info) {
        self.init(format: format, logLevel: logLevel, output: .standardError, now: { Date() })
    }

    init(
        format: ServeConfiguration.LogFormat, logLevel: Logger.Level, output: LogOutput,
        now: @escaping @Sendable () -> Date
    ) {
        self.format = format
        self.logLevel = logLevel
        self.output = output
        self.now = now
    }

    public subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        // The nearer word wins: the event's before the logger's before the task's.
        let provided = metadataProvider?.get() ?? [:]
        var merged = provided.merging(metadata) { $1 }.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { merged["error"] = merged["error"] ?? "\(error)" }
        let line = LogLine(date: now(), level: event.level, message: event.message.description, metadata: merged)
        output.write(line.text(format))
    }
}
