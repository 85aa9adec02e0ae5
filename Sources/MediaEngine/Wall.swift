/// A wall between the media child, which decodes strangers' files, and everything else.
public enum Wall: String, Codable, Sendable, Hashable, CaseIterable {
    /// Nothing it executes has more rights than it. Linux: `prctl(2)`, PR_SET_NO_NEW_PRIVS.
    case privileges = "no new privileges"
    /// None of root's rights, should it run as root. Linux: `capabilities(7)`.
    case capabilities = "no capabilities"
    /// No file system; media come and go as open descriptors. Linux: `landlock(7)`.
    case files = "no file system"
    /// A short list of system calls; network, programs and other processes are not on it. Linux: `seccomp(2)`.
    case systemCalls = "system calls"
    /// Address space. Linux: `setrlimit(2)`, RLIMIT_AS.
    case memory = "memory"
    /// Processor seconds. Linux: `setrlimit(2)`, RLIMIT_CPU.
    case processorTime = "processor time"
    /// Bytes of a file. Linux: `setrlimit(2)`, RLIMIT_FSIZE.
    case fileSize = "file size"
    /// Descriptors. Linux: `setrlimit(2)`, RLIMIT_NOFILE.
    case openFiles = "open files"
    /// No core dump, and no look into its memory. Linux: `prctl(2)`, PR_SET_DUMPABLE, and RLIMIT_CORE.
    case dumps = "no core dump"
    /// It does not outlive its parent. Linux: `prctl(2)`, PR_SET_PDEATHSIG.
    case orphans = "dies with parent"
}
