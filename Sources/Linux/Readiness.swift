import Glibc
import SafeArithmetic

/// Waiting for descriptors, on a thread that may block. Linux: `poll(2)`.
package enum Readiness {
    /// Those of the descriptors from which something, or the end, can be read; none when the deadline came first.
    ///
    /// - Parameter deadline: nil waits without end; one that is over looks once.
    package static func wait(for descriptors: [CInt], deadline: ContinuousClock.Instant?) throws(SystemError) -> [CInt]
    {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(clamping: POLLIN), revents: 0) }
        while true {
            let milliseconds = deadline.map(Self.milliseconds) ?? -1
            let ready = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
            if ready > 0 { return entries.filter { $0.revents != 0 }.map(\.fd) }
            guard ready == 0 || errno == EINTR else { throw SystemError("poll") }
            if ready == 0, let deadline, deadline <= .now { return [] }
        }
    }

    /// Rounded up, so that the deadline is over when the wait is; an hour at most, then it is looked again.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> CInt {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        let seconds = CInt(clamping: min(left.components.seconds, 3_600))
        // Bounded: an hour, and less than a second.
        return seconds * 1000 + CInt(clamping: left.components.attoseconds / 1_000_000_000_000_000) + 1
    }
}
