/// A layer of the sandbox around the media process, which decodes untrusted files.
public enum SandboxLayer: String, Codable, Sendable, Hashable, CaseIterable {
    /// Executed programs gain no privileges. Linux: `prctl(2)`, PR_SET_NO_NEW_PRIVS.
    case privileges = "no new privileges"
    /// No root capabilities, even when it runs as root. Linux: `capabilities(7)`.
    case capabilities = "no capabilities"
    /// No file system access; files are passed as open descriptors. Linux: `landlock(7)`.
    case files = "no file system"
    /// A short list of allowed system calls, without network, programs and other processes. Linux: `seccomp(2)`.
    case systemCalls = "system calls"
    /// A limit on address space. Linux: `setrlimit(2)`, RLIMIT_AS.
    case memory = "memory"
    /// A limit on processor seconds. Linux: `setrlimit(2)`, RLIMIT_CPU.
    case processorTime = "processor time"
    /// A limit on bytes per file. Linux: `setrlimit(2)`, RLIMIT_FSIZE.
    case fileSize = "file size"
    /// A limit on open descriptors. Linux: `setrlimit(2)`, RLIMIT_NOFILE.
    case openFiles = "open files"
    /// No core dumps, and no access to its memory from outside. Linux: `prctl(2)`, PR_SET_DUMPABLE, and RLIMIT_CORE.
    case coreDumps = "no core dump"
    /// The process is killed when its parent ends. Linux: `prctl(2)`, PR_SET_PDEATHSIG.
    case parentDeath = "dies with parent"
}

/// An escape attempt, made by a process in which only the layer under test is enabled, for `attachprep doctor`.
public enum EscapeKind: String, Codable, Sendable, Hashable, CaseIterable {
    case gainPrivileges = "gain privileges"
    case keepCapabilities = "keep root's rights"
    case readFile = "read /etc/passwd"
    case writeFile = "write into /tmp"
    case listFolder = "list /"
    case openFile = "open a file"
    case connect = "open a socket"
    case execute = "run a program"
    case fork = "fork"
    case trace = "trace a process"
    case signal = "signal its parent"
    case makeCodeExecutable = "make memory executable"
    case allocate = "allocate past the limit"
    case spin = "spin past the limit"
    case growFile = "write past the limit"
    case openManyFiles = "open past the limit"
    case dump = "leave a core dump"
    case outliveParent = "outlive its parent"

    /// The layer that must block it.
    public var layer: SandboxLayer {
        switch self {
        case .gainPrivileges: .privileges
        case .keepCapabilities: .capabilities
        case .readFile, .writeFile, .listFolder: .files
        case .openFile, .connect, .execute, .fork, .trace, .signal, .makeCodeExecutable: .systemCalls
        case .allocate: .memory
        case .spin: .processorTime
        case .growFile: .fileSize
        case .openManyFiles: .openFiles
        case .dump: .coreDumps
        case .outliveParent: .parentDeath
        }
    }
}
