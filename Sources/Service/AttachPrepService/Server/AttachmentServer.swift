import AttachPrep
import AttachPrepJobs
import Dispatch
import Glibc
public import Logging
import MediaTypes
public import ServiceLifecycle
import UnixSignals

/// The process of `attachprep serve` or `attachprep worker`: HTTP front end, job worker, webhook sender and
/// housekeeping.
///
/// SIGTERM and SIGINT shut it down gracefully: no new jobs are claimed, running jobs finish or return to the queue.
/// SIGHUP reads the configuration again: see `ConfigurationReload`.
public struct AttachmentServer: Service {
    private let configuration: ServeConfiguration
    private let dependencies: ServerDependencies
    private let logger: Logger

    /// Opens the data folder or the queue and starts the media processes.
    ///
    /// - Throws: `request.invalid`, `queue.unavailable` or `internal`.
    public init(_ configuration: ServeConfiguration, logger: Logger) async throws {
        var configuration = configuration
        if configuration.service.baseURL == nil {
            configuration.service = try ListeningAddress.resolved(configuration.service)
        }
        self.configuration = configuration
        self.logger = logger
        dependencies = try await ServerDependencies(configuration, logger: logger)
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Parameter logLevel: the level of `logger`, which a reloaded configuration changes.
    /// - Throws: The error that stopped the server, such as an address already in use.
    public static func serve(
        _ configuration: ServeConfiguration, logger: Logger, logLevel: ProcessLogLevel
    ) async throws {
        // A reload that comes before the service runs must not end it: the configuration was just read.
        signal(SIGHUP, SIG_IGN)
        OpenFileLimit.raise(logger)
        let server = try await AttachmentServer(configuration, logger: logger)
        for name in configuration.unknownVariables {
            logger.warning("unknown environment variable, possibly misspelled", metadata: ["name": "\(name)"])
        }
        var group = ServiceGroupConfiguration(
            services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: .silent)
        // Tasks that exceed this are cancelled; their jobs return to the queue when their leases expire.
        group.maximumGracefulShutdownDuration = .seconds(configuration.drainSeconds + Self.lastSeconds)
        let reload = ConfigurationReload(configuration, server.dependencies, logLevel: logLevel, logger: logger)
        let hangup = SignalHandler(SIGHUP) { _ in reload.run() }
        defer { hangup.stop() }
        do {
            try await ServiceGroup(configuration: group).run()
        } catch {
            await server.dependencies.close()
            throw error
        }
        await server.dependencies.close()
        logger.notice("ended")
    }

    /// Time beyond `--drain` for responses in progress and for ending media processes.
    private static let lastSeconds = 10.0

    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await dependencies.front.run() }
            if let worker = dependencies.worker { group.addTask { await worker.run() } }
            group.addTask { await dependencies.sender.run() }
            group.addTask { await dependencies.housekeeping.run() }
            if let reporter = dependencies.reporter { group.addTask { await reporter.run() } }
            group.addTask { await announce() }
            if let target = dependencies.target { group.addTask { await target.run() } }
            group.addTask { await drainWhenAsked() }
            // The first error ends all tasks.
            do {
                while try await group.next() != nil {}
            } catch {
                group.cancelAll()
                throw error
            }
        }
    }

    /// Logs the URL once the service listens.
    private func announce() async {
        guard let port = await dependencies.front.boundPort.value else { return }
        let url = ListeningAddress.url(host: configuration.service.host, port: port)
        if configuration.role == .serve, configuration.service.baseURL == nil, configuration.service.servesFiles {
            logger.warning("no --base-url: `url` is null in all manifests")
        }
        logger.notice(configuration.role == .serve ? "serving" : "working", metadata: facts(url))
    }

    private func facts(_ url: String) -> Logger.Metadata {
        var facts: Logger.Metadata = [
            "url": "\(url)",
            "concurrency": .stringConvertible(configuration.works ? configuration.preparer.requestsInFlight : 0),
            "mediaSlots": .stringConvertible(configuration.preparer.mediaSlots),
        ]
        if let queue = configuration.queue {
            facts["queue"] = "\(queue)"
        } else {
            facts["data"] = "\(configuration.dataFolder)"
            facts["fsync"] = "\(configuration.durability)"
        }
        if configuration.preparer.publish.isRemote { facts["publish"] = "\(configuration.preparer.publish)" }
        return facts
    }

    /// Waits for graceful shutdown, then drains the worker and the webhook sender concurrently.
    private func drainWhenAsked() async {
        try? await gracefulShutdown()
        guard !Task.isCancelled else { return }
        logger.notice("draining", metadata: ["milliseconds": .stringConvertible(configuration.drainSeconds * 1000)])
        let limit = Duration.seconds(configuration.drainSeconds)
        async let work: Void = leave(within: limit)
        async let calls: Void = dependencies.sender.drain(within: limit)
        _ = await (work, calls)
        dependencies.drained.finish()
        dependencies.housekeeping.stop()
        dependencies.reporter?.stop()
        dependencies.target?.stop()
    }

    private func leave(within limit: Duration) async {
        if let worker = dependencies.worker { await worker.drain(within: limit) }
    }
}

/// Calls an action on signals, whose default action is disabled.
package struct SignalHandler {
    private let sources: [any DispatchSourceSignal]

    package init(_ signals: CInt..., action: @escaping @Sendable (CInt) -> Void) {
        sources = signals.map { number in
            // Dispatch receives the signal only if the default action, which ends the process, is disabled.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { action(number) }
            source.resume()
            return source
        }
    }

    package func stop() {
        for source in sources { source.cancel() }
    }
}

/// The limit of open file descriptors: the usual soft limit of 1,024 is too low for the service's connections.
enum OpenFileLimit {
    /// Raises the soft limit to the hard limit; media processes set a lower limit for themselves.
    static func raise(_ logger: Logger) {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        guard before < limit.rlim_max, unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 else {
            return
        }
        logger.warning(
            "cannot raise the limit of open files",
            metadata: ["limit": .stringConvertible(before), "errno": .stringConvertible(errno)])
    }
}
