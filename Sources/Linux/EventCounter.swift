import CLinux
import Glibc

/// A count that threads raise and one thread waits for, as a descriptor, so that it can be waited for among others.
///
/// Owns its descriptor. Linux: `eventfd(2)` as a semaphore.
package final class EventCounter: Sendable {
    package let descriptor: CInt

    /// A count of 0.
    package init() throws(SystemError) {
        descriptor = CLinux_eventfd_semaphore()
        guard descriptor >= 0 else { throw SystemError("eventfd") }
    }

    deinit {
        close(descriptor)
    }

    /// Adds one; never blocks.
    package func raise() {
        var one: UInt64 = 1
        let written = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
        precondition(written == MemoryLayout<UInt64>.size, "a count below 2^64 can be raised")
    }

    /// Waits until the count is not 0, and takes one.
    package func take() {
        var one: UInt64 = 0
        while unsafe read(descriptor, &one, MemoryLayout<UInt64>.size) < 0 {
            precondition(errno == EINTR, "a count of our own can be read")
        }
    }
}
