import AttachPrep
import AttachPrepJobs
import FoundationEssentials
import Logging
import MediaTypes

/// Reports the worker of this process to the directory of its queue, every few seconds until it is stopped.
final class WorkerReporter: Sendable {
    private let directory: any WorkerDirectory
    private let worker: JobWorker
    private let settings: WorkerSettings
    private let mediaSlots: Int
    private let logger: Logger
    private let startedAt = Date.now
    private let triggers: AsyncStream<Void>
    private let trigger: AsyncStream<Void>.Continuation

    init(
        _ directory: any WorkerDirectory, worker: JobWorker, settings: WorkerSettings, mediaSlots: Int, logger: Logger
    ) {
        (self.directory, self.worker, self.settings) = (directory, worker, settings)
        (self.mediaSlots, self.logger) = (mediaSlots, logger)
        (triggers, trigger) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func run() async {
        let timer = Task { [trigger] in
            while !Task.isCancelled {
                trigger.yield()
                try await ContinuousClock().sleep(for: .seconds(Limits.workerReportSeconds))
            }
        }
        for await _ in triggers {
            do {
                try await directory.report(report)
            } catch {
                // An unavailable queue is reported by the worker itself.
                logger.debug("cannot report the worker", metadata: ["error": "\(error)"])
            }
        }
        timer.cancel()
        try? await directory.withdraw(settings.name)
    }

    func stop() { trigger.finish() }

    private var report: WorkerReport {
        WorkerReport(
            name: settings.name, host: ProcessInfo.processInfo.hostName, version: ProductVersion.text,
            startedAt: startedAt, reportedAt: .now, running: worker.runningCount, concurrency: settings.concurrency,
            mediaSlots: mediaSlots, isDraining: worker.isDraining, outages: worker.outages)
    }
}
