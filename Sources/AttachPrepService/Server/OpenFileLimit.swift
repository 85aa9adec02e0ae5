import Glibc
import Logging

/// How many descriptors the process may have open: the usual soft limit of 1,024 is less than its connections need.
enum OpenFileLimit {
    /// Raises the soft limit to the hard one, as a server may; media children set a lower one of their own.
    static func raise(_ logger: Logger) {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        guard before < limit.rlim_max, unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 else {
            return
        }
        logger.warning(
            "the limit of open files could not be raised", metadata: ["limit": "\(before)", "code": "\(errno)"])
    }
}
