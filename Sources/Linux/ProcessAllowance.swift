import CLinux
import Glibc
import SafeArithmetic

/// What a child of ours may still take, set from outside: it cannot give itself more.
package enum ProcessAllowance {
    /// Lets a child use processor time up to that many seconds in all; past them it gets SIGXCPU, which ends it.
    ///
    /// Linux: `prlimit(2)`, the soft limit of RLIMIT_CPU, never above the hard one; whole seconds.
    package static func limitProcessor(seconds: Int, of child: ChildProcess) throws(SystemError) {
        precondition(seconds > 0, "the kernel takes 0 for 1")
        guard CLinux_prlimit_processor(child.processID, UInt64(clamping: seconds)) == 0 else {
            throw SystemError("prlimit")
        }
    }

    /// Puts a child and all of its threads behind in line for the processor: 1 to 19; no way leads back.
    ///
    /// Linux: `setpriority(2)`, which means one thread where it says "process". A child of ours leads a group of its
    /// own, and the group has all of its threads.
    package static func lower(by niceness: Int, _ child: ChildProcess) throws(SystemError) {
        precondition(1...19 ~= niceness, "the kernel knows no other")
        guard setpriority(CInt(bitPattern: PRIO_PGRP.rawValue), id_t(child.processID), CInt(clamping: niceness)) == 0
        else {
            throw SystemError("setpriority")
        }
    }
}
