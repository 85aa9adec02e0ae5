import Foundation

/// A fact that a test brings about and a server waits for.
public final class LoopbackGate: @unchecked Sendable {
    // Sendable because the condition guards the flag.
    private let condition = NSCondition()
    private var isOpen = false
    private let isSo: (@Sendable () -> Bool)?

    /// - Parameter isSo: a fact that opens the gate as well, when nobody can tell the gate of it.
    public init(when isSo: (@Sendable () -> Bool)? = nil) {
        self.isSo = isSo
    }

    public func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    /// Waits until the gate is open.
    public func untilOpen() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.wait { false }
                continuation.resume()
            }
        }
    }

    /// Blocks until the gate is open or `isOver` says that nobody waits any more.
    func wait(unless isOver: () -> Bool) {
        condition.withLock {
            while !isOpen, !(isSo?() ?? false), !isOver() {
                _ = condition.wait(until: Date(timeIntervalSinceNow: 0.01))
            }
        }
    }
}
