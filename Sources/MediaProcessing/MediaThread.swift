import Linux
import MediaEngine
import RichPush

/// Permanent threads that do media calls, each with libraries of its own, in the order of the calls' coming.
final class MediaThread: Sendable {
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
            try PermanentThread.start(name: name) { Self.run(items) }
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
        // libmagic's cookie in it belongs to this thread.
        var processor: MediaProcessor?
        while case .call(let call, let descriptors, let deadline, let continuation) = items.pop() {
            continuation.resume(
                with: Result { () throws in
                    let current = try processor ?? MediaProcessor()
                    processor = current
                    return try answer(call, descriptors, deadline, from: current)
                })
        }
    }

    /// What a render had written before its deadline stands, as it does when a child is ended there.
    private static func answer(
        _ call: MediaCall, _ descriptors: [CInt], _ deadline: ContinuousClock.Instant, from processor: MediaProcessor
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
