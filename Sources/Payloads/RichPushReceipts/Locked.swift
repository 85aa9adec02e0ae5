import Foundation

/// A value protected by a lock; uses `NSLock`, which is available before iOS 18.
// Sendable because the lock guards the value, which is only copied in and out.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    package init(_ value: Value) {
        stored = value
    }

    package var value: Value { lock.withLock { stored } }

    package func set(_ value: Value) {
        lock.withLock { stored = value }
    }

    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&stored) }
    }
}
