import FoundationEssentials
import Logging
package import MediaTypes
import Synchronization

/// The log handler of one job: each line goes to the service's log with the job's id, and is stored with the job.
struct JobLogHandler: LogHandler {
    private let job: JobID
    private let buffer: JobLogBuffer
    private var service: any LogHandler
    private let serviceLevel: Logger.Level
    /// Lines below this level are not stored with the job: they may contain library messages.
    private static let keptLevel = Logger.Level.info

    init(_ job: JobID, service: Logger, buffer: JobLogBuffer) {
        self.job = job
        self.buffer = buffer
        serviceLevel = service.logLevel
        self.service = service.handler
        self.service[metadataKey: "job"] = "\(job)"
        logLevel = min(service.logLevel, Self.keptLevel)
    }

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
        buffer.add(JobLogLine(job: job, date: .now, level: event.level.rawValue, text: text))
    }
}

/// Buffers log lines of jobs to store many at a time.
final class JobLogBuffer: Sendable {
    private let store: any JobCatalog
    private let lines = Mutex<[JobLogLine]>([])

    init(_ store: any JobCatalog) {
        self.store = store
    }

    func add(_ line: JobLogLine) {
        lines.withLock { lines in
            lines.append(line)
            if lines.count > Limits.jobLogBacklogMax { lines.removeFirst(lines.count - Limits.jobLogBacklogMax) }
        }
    }

    /// Removes the buffered lines of a job, for a caller that stores them with a change of its own.
    func take(of job: JobID) -> [JobLogLine] {
        lines.withLock { lines in
            let own = lines.filter { $0.job == job }
            lines.removeAll { $0.job == job }
            return own
        }
    }

    /// Stores the buffered lines; when that fails they stay buffered, and no job fails because of it.
    func flush() async {
        let taken = lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
        guard !taken.isEmpty else { return }
        do {
            try await store.append(taken)
        } catch {
            lines.withLock { $0 = Array((taken + $0).suffix(Limits.jobLogBacklogMax)) }
        }
    }
}

extension Limits {
    /// Log lines that wait to be stored; the oldest are dropped.
    static let jobLogBacklogMax = 5_000
    /// Log lines of a job; the oldest are deleted.
    package static let jobLogLinesMax = 200
    /// Bytes of a log line.
    package static let jobLogBytesMax = 2_000
}
