import Logging
import MediaEngine
import RichPush

/// The rooms a request passes through, shared by all requests.
struct PipelineRooms: Sendable {
    let engine: any MediaEngine
    let quarantine: Quarantine
    let downloader: Downloader
    let blocking: BlockingLane
    let target: WatchedTarget

    init(engine: any MediaEngine, configuration: PreparerConfiguration, logger: Logger) throws {
        self.engine = engine
        quarantine = Quarantine(stateFolder: configuration.stateFolder, logger: logger)
        downloader = try Downloader(
            policy: configuration.download, inFlightMax: configuration.requestsInFlight
        ) { logger.error("download thread abandoned: libcurl did not return", metadata: ["abandoned": "\($0)"]) }
        blocking = try BlockingLane()
        target = WatchedTarget(
            try configuration.publish.target(configuration, blocking: blocking, logger: logger))
    }

    /// The engine for work on that content, which is refused in quarantine and blamed for the end of its process.
    func engine(
        for digest: String, _ subject: QuarantineEntry.Subject, source: String,
        prefixes: @escaping @Sendable () -> [String] = { [] }
    ) -> any MediaEngine {
        WatchedEngine(
            engine: engine, quarantine: quarantine, digest: digest,
            subject: { QuarantineEntry(digest: digest, subject: subject, prefixes: prefixes()) }, source: source)
    }

    /// The engine for work on what is still being fetched, and known by its beginning alone.
    func engine(forFirstBytesOf descriptor: CInt, of request: AttachmentRequest) -> any MediaEngine {
        let length = FirstBytes.length(available: Limits.earlyArrivedBytesMin, isComplete: false)
        guard let digest = FirstBytes.digest(of: descriptor, length: length) else { return engine }
        return engine(for: digest, .firstBytes, source: RedactedURL.redact(request.source))
    }

    /// The engine for work on what was fetched.
    func engine(for fetched: FetchedSource, of request: AttachmentRequest) -> any MediaEngine {
        engine(for: fetched.sha256, .content, source: RedactedURL.redact(request.source)) {
            FirstBytes.digests(of: fetched.descriptor)
        }
    }
}
