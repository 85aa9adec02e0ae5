import Logging
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The log of one job: each line goes to the service's log with the job's id, and is kept with the job.
struct JobLogHandler: LogHandler {
    private let job: JobID
    private let buffer: JobLogBuffer
    private var service: any LogHandler
    private let serviceLevel: Logger.Level
    /// Lines below it are for the service's log alone: they may hold what libraries say.
    private static let keptLevel = Logger.Level.info

    init(_ job: JobID, service: Logger, buffer: JobLogBuffer) {
        self.job = job
        self.buffer = buffer
        serviceLevel = service.logLevel
        self.service = service.handler
        self.service[metadataKey: "job"] = "\(job)"
        logLevel = min(service.logLevel, Self.keptLevel)
    }

    /// A logger for it.
    static func logger(_ job: JobID, service: Logger, buffer: JobLogBuffer) -> Logger {
        Logger(label: service.label) { _ in JobLogHandler(job, service: service, buffer: buffer) }
    }

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:] {
        didSet { for (key, value) in metadata { service[metadataKey: key] = value } }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if event.level >= serviceLevel { service.log(event: event) }
        guard event.level >= Self.keptLevel else { return }
        let words = metadata.merging(event.metadata ?? [:]) { _, own in own }.sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }
        let text = "\(event.message)\(words.joined())"
        buffer.add(
            JobLogLine(
                job: job, date: .now, level: event.level.rawValue,
                text: String(text.prefix(Limits.jobLogCharactersMax))))
    }
}
