import MediaEngine

/// The rooms a request passes through, shared by all requests.
struct PipelineRooms: Sendable {
    let engine: any MediaEngine
    let downloader: Downloader
    let blocking: BlockingLane

    init(engine: any MediaEngine, configuration: PreparerConfiguration) throws {
        self.engine = engine
        downloader = try Downloader(policy: configuration.download, inFlightMax: configuration.requestsInFlight)
        blocking = try BlockingLane()
    }
}
