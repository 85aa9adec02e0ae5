import CLinux

/// What a child of ours may still take, set from outside: it cannot give itself more.
package enum ProcessAllowance {
    /// Lets a child use processor time up to that many seconds in all; past them it gets SIGXCPU, which ends it.
    ///
    /// Linux: `prlimit(2)`, the soft limit of RLIMIT_CPU, never above the hard one; whole seconds.
    package static func limitProcessor(seconds: Int, of child: ChildProcess) throws(SystemError) {
        precondition(seconds > 0, "the kernel takes 0 for 1")
        guard CLinux_prlimit_processor(child.processID, UInt64(seconds)) == 0 else {
            throw SystemError("prlimit")
        }
    }
}
