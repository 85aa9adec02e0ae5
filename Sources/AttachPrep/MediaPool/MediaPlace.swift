import MediaEngine

/// One worker of the pool, for as long as a request has its turn there.
struct MediaPlace: MediaEngine {
    let worker: MediaWorker

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        try await worker.perform(MediaJob(call: call, descriptors: descriptors, deadline: deadline))
    }
}
