import Logging

/// What the runs of a worker's jobs share.
struct WorkerRooms: Sendable {
    let store: any JobStore
    let preparer: any JobPreparing
    let settings: WorkerSettings
    let metrics: JobMetrics
    let pulse: WorkerPulse
    let hands = JobsInHand()
    let storage = StorageGate()
    let logs: JobLogBuffer
    let logger: Logger
}
