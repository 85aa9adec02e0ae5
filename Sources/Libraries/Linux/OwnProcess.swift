import CLinux
import Glibc

/// The resources that this process uses, for its metrics.
package enum OwnProcess {
    /// Processor time and memory of this process; nil without `/proc`.
    package static let usage = try? ProcessUsage(processID: getpid())

    /// Returns freed memory of all arenas to the system. glibc: `malloc_trim(3)`.
    package static func trimMemory() {
        malloc_trim(0)
    }

    /// Processor time in seconds of the child processes that have ended and were reaped. Linux: `getrusage(2)`.
    package static var reapedProcessorSeconds: Double {
        var usage = rusage()
        guard unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage) == 0 else { return 0 }
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
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
        guard let fields = statusFields?.split(separator: ")").last?.split(separator: " "), fields.count > 19,
            let ticks = Double(fields[19]), let uptime = ProcessUsage.seconds(CLOCK_BOOTTIME),
            let now = ProcessUsage.seconds(CLOCK_REALTIME)
        else { return nil }
        return now - (uptime - ticks / Double(sysconf(CInt(clamping: _SC_CLK_TCK))))
    }()

    /// `/proc/self/stat`: one line of numbers, shorter than what is read.
    private static var statusFields: String? {
        let file = unsafe open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return (try? FileIO.bytes(file, at: 0, count: 1_024)).map { String(decoding: $0, as: UTF8.self) }
    }
}
