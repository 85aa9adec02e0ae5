import AttachPrepModel
import Linux
import MediaTypes

/// One thread for blocking file work, which would otherwise block Swift's cooperative thread pool.
package final class BlockingThread: Sendable {
    private let items: BlockingQueue<@Sendable () -> Bool>

    package init() throws {
        do {
            let items = try BlockingQueue<@Sendable () -> Bool>()
            self.items = items
            try DedicatedThread.start(name: "files") {
                while items.pop()() {}
            }
        } catch {
            throw AttachPrepError(.internal, "No thread could be started for file work.", detail: "\(error)")
        }
    }

    deinit {
        items.push { false }
    }

    /// Runs the work on the thread and returns its result.
    package func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            items.push {
                continuation.resume(with: Swift.Result { try work() })
                return true
            }
        }
    }
}
