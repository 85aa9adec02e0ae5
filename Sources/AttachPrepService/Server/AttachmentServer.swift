import AttachPrep
import AttachPrepJobs
public import Logging
import RichPush
public import ServiceLifecycle
import UnixSignals

/// All of `attachprep serve` or `attachprep worker`: the HTTP service in front, the worker, the webhooks and the
/// housekeeping, as one.
///
/// SIGTERM and SIGINT end it in order: no new work, running jobs finish or go back into the queue. SIGHUP has it read
/// its tokens and secrets again.
public struct AttachmentServer: Service {
    private let configuration: ServeConfiguration
    private let rooms: ServerRooms
    private let logger: Logger

    /// Opens the data folder and starts the media children.
    ///
    /// - Throws: `request.invalid`, `queue.unavailable`, `internal`: what stands in the way, in a sentence.
    public init(_ configuration: ServeConfiguration, logger: Logger) async throws {
        var configuration = configuration
        if configuration.service.baseURL == nil {
            configuration.service = try ListeningAddress.named(configuration.service)
        }
        self.configuration = configuration
        self.logger = logger
        rooms = try await ServerRooms(configuration, logger: logger)
    }

    /// Serves until a signal ends it.
    ///
    /// - Throws: what ended it otherwise, such as an address that is in use.
    public static func serve(_ configuration: ServeConfiguration, logger: Logger) async throws {
        OpenFileLimit.raise(logger)
        let server = try await AttachmentServer(configuration, logger: logger)
        for name in configuration.unknownVariables {
            logger.warning("this variable means nothing; is it misspelt?", metadata: ["name": "\(name)"])
        }
        var group = ServiceGroupConfiguration(
            services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: .silent)
        // What does not end by itself is cut, and its jobs are back when their leases are over.
        group.maximumGracefulShutdownDuration = .seconds(configuration.drainSeconds + Self.lastSeconds)
        let hangup = HangupSignal { server.rooms.reload() }
        defer { hangup.stop() }
        do {
            try await ServiceGroup(configuration: group).run()
        } catch {
            await server.rooms.close()
            throw error
        }
        await server.rooms.close()
        logger.notice("ended")
    }

    /// For answers under way and the children's end.
    private static let lastSeconds = 10.0

    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await rooms.front.run() }
            if let worker = rooms.worker { group.addTask { await worker.run() } }
            group.addTask { await rooms.sender.run() }
            group.addTask { await rooms.housekeeping.run() }
            group.addTask { await announce() }
            if let target = rooms.target { group.addTask { await target.run() } }
            group.addTask { await drainWhenAsked() }
            // The first failure ends all.
            do {
                while try await group.next() != nil {}
            } catch {
                group.cancelAll()
                throw error
            }
        }
    }

    /// Says where it can be reached, once it can.
    private func announce() async {
        guard let port = await rooms.front.boundPort.value else { return }
        let url = ListeningAddress.url(host: configuration.service.host, port: port)
        if configuration.role == .serve, configuration.service.baseURL == nil, configuration.service.servesFiles {
            logger.warning("without --base-url the files of results have no url")
        }
        logger.notice(configuration.role == .serve ? "serving" : "working", metadata: facts(url))
    }

    private func facts(_ url: String) -> Logger.Metadata {
        var facts: Logger.Metadata = [
            "url": "\(url)", "concurrency": "\(configuration.works ? configuration.preparer.requestsInFlight : 0)",
            "mediaSlots": "\(configuration.preparer.mediaSlots)",
        ]
        if let queue = configuration.queue {
            facts["queue"] = "\(queue)"
        } else {
            facts["state"] = "\(configuration.stateFolder)"
            facts["fsync"] = "\(configuration.durability)"
        }
        if configuration.preparer.publish.isRemote { facts["publish"] = "\(configuration.preparer.publish)" }
        return facts
    }

    /// Waits for the signal, then lets worker and sender leave side by side.
    private func drainWhenAsked() async {
        try? await gracefulShutdown()
        guard !Task.isCancelled else { return }
        logger.notice("draining", metadata: ["seconds": "\(configuration.drainSeconds)"])
        let limit = Duration.seconds(configuration.drainSeconds)
        async let work: Void = leave(within: limit)
        async let calls: Void = rooms.sender.drain(within: limit)
        _ = await (work, calls)
        rooms.drained.finish()
        rooms.housekeeping.stop()
        rooms.target?.stop()
    }

    private func leave(within limit: Duration) async {
        if let worker = rooms.worker { await worker.drain(within: limit) }
    }
}

extension Logger {
    /// For what would say again, in its own words, what is said already.
    fileprivate static var silent: Logger { Logger(label: "attachprep") { _ in SwiftLogNoOpLogHandler() } }
}
