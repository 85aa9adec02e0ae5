import Glibc
import SafeArithmetic

/// What a child of ours takes of the machine, cheap enough to be looked at all the time.
///
/// Linux: `/proc/PID/statm`, opened once, and the process's clock, `clock_getcpuclockid(3)`. Valid until it is reaped.
package final class ProcessUsage: Sendable {
    private let processID: pid_t
    private let memory: CInt

    package init(of child: ChildProcess) throws(SystemError) {
        processID = child.processID
        memory = unsafe open("/proc/\(processID)/statm", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw SystemError("open") }
    }

    deinit {
        close(memory)
    }

    /// Seven numbers of up to 20 digits.
    private static let textBytesMax = 160

    /// Bytes of memory it has, files that it mapped included; nil once it has ended.
    package var residentBytes: Int? {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.textBytesMax, alignment: 1) { text in
            let count = unsafe pread(memory, text.baseAddress, text.count, 0)
            guard count > 0 else { return nil }
            // Pages: all, resident, shared…
            let fields = unsafe Array(text.prefix(count)).split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard fields.count == 3 else { return nil }
            guard let pages = Int(String(decoding: fields[1], as: UTF8.self)), pages > 0 else { return nil }
            return pages.multiplied(clamping: sysconf(CInt(clamping: _SC_PAGESIZE)))
        }
    }

    /// Seconds of processor time it has used, in all its threads; nil once it has ended.
    package var processorSeconds: Double? {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(processID, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
            return nil
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
