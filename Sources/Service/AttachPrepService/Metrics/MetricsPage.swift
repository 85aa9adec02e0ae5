import AttachPrep
import AttachPrepJobs
import Linux
import Logging
import PostgresDatabase

/// The body of `/metrics`: counters, and gauges read from the store and the kernel.
struct MetricsPage: Sendable {
    let registry: PrometheusRegistry
    let metrics: JobMetrics
    let process: ProcessMetrics
    let store: any JobStore & StoreMaintenance
    /// Nil for SQLite.
    let database: PostgresDatabase?
    let preparer: AttachmentPreparer
    /// Nil in a process that processes no jobs.
    let worker: JobWorker?
    let logger: Logger

    func text(_ format: ExpositionFormat) async -> String {
        metrics.record(preparer.statistics)
        process.refresh(preparer.mediaProcessUsage)
        if let worker {
            var away = Set((worker.outages + store.outages).map(\.dependency))
            if store.outages.isEmpty, store.unavailableReason != nil { away.insert(.database) }
            for dependency in Dependency.allCases {
                registry.set(
                    "attachprep_dependency_up", to: away.contains(dependency) ? 0 : 1,
                    labels: ("dependency", dependency.rawValue))
            }
            registry.set("attachprep_results_held", to: Double(worker.heldResultsCount))
        }
        do {
            try await metrics.refresh(store)
            if let health = try await database?.health() {
                registry.set("attachprep_database_up", to: 1)
                if let rows = health.deadRows { registry.set("attachprep_database_dead_rows", to: Double(rows)) }
                registry.set(
                    "attachprep_database_oldest_transaction_seconds", to: Double(health.oldestTransactionSeconds ?? 0))
            }
        } catch {
            if database != nil { registry.set("attachprep_database_up", to: 0) }
            logger.warning("cannot read the job counts for /metrics", metadata: ["error": "\(error)"])
        }
        return registry.exposition(format)
    }
}

/// The build, and the resources of this process and of its media processes.
///
/// `process_…` are the names of Prometheus' own client libraries, so that dashboards for all processes include this
/// one. Open descriptors of media processes are not known: the sandbox hides their `/proc` files from this process.
struct ProcessMetrics: Sendable {
    private let registry: PrometheusRegistry

    /// - Parameter commit: the commit of the build; empty if it is not known.
    init(_ registry: PrometheusRegistry, commit: String) {
        self.registry = registry
        registry.set(
            "attachprep_build_info", to: 1, labels: ("version", ProductVersion.text), ("revision", commit))
    }

    /// Reads the values; called when metrics are scraped.
    func refresh(_ media: MediaProcessUsage) {
        let own = OwnProcess.usage
        if let seconds = own?.processorSeconds { registry.raise("process_cpu_seconds_total", to: seconds) }
        if let bytes = own?.residentBytes { registry.set("process_resident_memory_bytes", to: Double(bytes)) }
        if let count = OwnProcess.openDescriptors { registry.set("process_open_fds", to: Double(count)) }
        if let count = OwnProcess.descriptorsMax { registry.set("process_max_fds", to: Double(count)) }
        if let start = OwnProcess.startSeconds { registry.set("process_start_time_seconds", to: start) }
        registry.set("attachprep_media_processes", to: Double(media.processes))
        registry.set("attachprep_media_process_resident_memory_bytes", to: Double(media.residentBytes))
        registry.raise("attachprep_media_process_cpu_seconds_total", to: media.processorSeconds)
    }
}
