internal import AttachPrepModel
internal import Linux
public import MediaEngine
internal import MediaTypes

/// Runs media work in the calling process: for tests, sanitizers, and programs that prepare their own files.
///
/// There is no isolation. A file that crashes a decoder ends this process, memory that a decoder leaks is not
/// returned, and a decoder that does not check its deadline is not stopped, so its answer arrives late. For untrusted
/// files use `AttachPrep`'s `MediaProcessPool`. SVGs are rejected, because nothing could end one that takes all memory.
///
/// ```swift
/// let engine = try InProcessMediaEngine()
/// let preparer = try AttachmentPreparer(PreparerConfiguration(output: "prepared"), engine: engine)
/// ```
public final class InProcessMediaEngine: MediaEngine {
    private let queryThreads: MediaThreadPool
    private let renderThreads: MediaThreadPool

    /// Starts the threads. Each loads the media libraries on its first call.
    ///
    /// - Parameter mediaSlots: Maximum number of concurrent renders; one additional thread runs identification and
    ///   inspection.
    /// - Throws: `internal` when a thread cannot be started.
    public init(mediaSlots: Int = 1) throws {
        precondition(mediaSlots >= 1, "an engine renders in at least one slot")
        do {
            queryThreads = try MediaThreadPool(name: "queries", count: 1)
            renderThreads = try MediaThreadPool(name: "renders", count: mediaSlots)
        } catch {
            throw AttachPrepError(.internal, "No thread could be started for media work.", detail: "\(error)")
        }
    }

    /// Runs one call on a dedicated thread; waiting for a free thread counts against the deadline. A running call is
    /// not canceled.
    public func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws
        -> MediaAnswer
    {
        let threads = if case .render = call { renderThreads } else { queryThreads }
        return try await threads.perform(call, descriptors: descriptors, deadline: deadline)
    }
}

/// Permanent threads that run media calls in first-in, first-out order; each has its own instances of the libraries.
final class MediaThreadPool: Sendable {
    private enum Item: Sendable {
        case call(MediaCall, [CInt], ContinuousClock.Instant, CheckedContinuation<MediaAnswer, any Error>)
        case stop
    }

    private let items: BlockingQueue<Item>
    private let count: Int

    init(name: String, count: Int) throws {
        self.count = count
        let items = try BlockingQueue<Item>()
        self.items = items
        for _ in 0..<count {
            try DedicatedThread.start(name: name) { Self.run(items) }
        }
    }

    deinit {
        for _ in 0..<count { items.push(.stop) }
    }

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws
        -> MediaAnswer
    {
        try await withCheckedThrowingContinuation { continuation in
            items.push(.call(call, descriptors, deadline, continuation))
        }
    }

    private static func run(_ items: BlockingQueue<Item>) {
        // The processor's libmagic cookie must stay on this thread.
        var processor: MediaProcessor?
        while case .call(let call, let descriptors, let deadline, let continuation) = items.pop() {
            continuation.resume(
                with: Result { () throws in
                    let current = try processor ?? MediaProcessor(drawsSVG: false)
                    processor = current
                    return try answer(call, descriptors: descriptors, deadline: deadline, from: current)
                })
        }
    }

    /// Returns what a render wrote before its deadline, as when a media process is ended at the deadline.
    private static func answer(
        _ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant, from processor: MediaProcessor
    ) throws -> MediaAnswer {
        guard ContinuousClock.now < deadline else {
            throw AttachPrepError(.deadlineExceeded, "The time for the request ran out before media work began.")
        }
        var written: RenderedMedia?
        do {
            return try processor.perform(call, descriptors: descriptors, deadline: deadline) { written = $0 }
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            guard let written else { throw error }
            return .rendered(written)
        }
    }
}
