/// A wall between the media child, which decodes strangers' files, and everything else.
public enum Wall: String, Codable, Sendable, Hashable, CaseIterable {
    /// Nothing it executes has more rights than it. Linux: `prctl(2)`, PR_SET_NO_NEW_PRIVS.
    case privileges = "no new privileges"
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

/// A try to get through a wall, made by a child around which only that wall stands: for `attachprep doctor`.
public enum WallAttempt: String, Codable, Sendable, Hashable, CaseIterable {
    case gainPrivileges = "gain privileges"
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

    /// The wall that has to stop it.
    public var wall: Wall {
        switch self {
        case .gainPrivileges: .privileges
        case .readFile, .writeFile, .listFolder: .files
        case .openFile, .connect, .execute, .fork, .trace, .signal, .makeCodeExecutable: .systemCalls
        case .allocate: .memory
        case .spin: .processorTime
        case .growFile: .fileSize
        case .openManyFiles: .openFiles
        case .dump: .dumps
        case .outliveParent: .orphans
        }
    }
}

/// The code with which a child ends; the parent reads it.
package enum MediaChildExit {
    /// A wall that has to stand could not be raised.
    package static let wallMissing: Int32 = 77
    /// A trial was refused: the wall holds.
    package static let attemptRefused: Int32 = 70
    /// A trial got through.
    package static let attemptSucceeded: Int32 = 71
}

/// Words on the child's command line; the parent writes them.
package enum MediaChildArgument {
    /// End with `MediaChildExit.wallMissing` when a wall cannot be raised.
    package static let requireWalls = "--require-walls"
    /// Raise no wall: for measuring what they cost, never said by the pool.
    package static let withoutWalls = "--without-walls"
    /// Make one attempt and end, instead of serving.
    package static let attempt = "--attempt"
}
