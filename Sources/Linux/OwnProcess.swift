import CLinux
import Glibc
import SafeArithmetic

/// The resources that this process uses, for its metrics.
package enum OwnProcess {
    /// Processor time of all threads in seconds. Linux: `clock_gettime(2)`, CLOCK_PROCESS_CPUTIME_ID.
    package static var processorSeconds: Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// Processor time in seconds of the child processes that have ended and were reaped. Linux: `getrusage(2)`.
    package static var reapedProcessorSeconds: Double {
        var usage = rusage()
        guard unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage) == 0 else { return 0 }
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }

    /// Resident memory in bytes, including mapped files; nil without `/proc`.
    package static var residentBytes: Int? {
        // In pages: total, resident, shared…
        let fields = text(of: "/proc/self/statm")?.split(separator: " ") ?? []
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages.multiplied(clamping: sysconf(CInt(clamping: _SC_PAGESIZE)))
    }

    /// The number of open file descriptors; nil without `/proc`.
    package static var openDescriptors: Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // Without `.`, `..` and the descriptor of this listing.
        return max(0, count - 3)
    }

    /// The limit of open file descriptors. Linux: `getrlimit(2)`, the soft limit of RLIMIT_NOFILE.
    package static var descriptorsMax: Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// When this process started, in seconds since 1970; nil without `/proc`.
    ///
    /// Linux: field 22 of `/proc/self/stat`, in clock ticks since boot. The wall clock is read once, so that the value
    /// stays the same when that clock is set.
    package static let startSeconds: Double? = {
        // The second field is the program's name in parentheses, which may contain spaces.
        guard let fields = text(of: "/proc/self/stat")?.split(separator: ")").last?.split(separator: " "),
            fields.count > 19, let ticks = Double(fields[19])
        else { return nil }
        let age = seconds(CLOCK_BOOTTIME) - ticks / Double(sysconf(CInt(clamping: _SC_CLK_TCK)))
        return seconds(CLOCK_REALTIME) - age
    }()

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        guard unsafe clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The beginning of a file of `/proc`: one line of numbers, which is shorter than the buffer.
    private static func text(of path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 1) { bytes in
            let count = unsafe pread(file, bytes.baseAddress, bytes.count, 0)
            return count > 0 ? unsafe String(decoding: bytes.prefix(count), as: UTF8.self) : nil
        }
    }
}
