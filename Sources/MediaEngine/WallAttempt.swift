/// A try to get through a wall, made by a child around which only that wall stands: for `attachprep doctor`.
public enum WallAttempt: String, Codable, Sendable, Hashable, CaseIterable {
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

    /// The wall that has to stop it.
    public var wall: Wall {
        switch self {
        case .gainPrivileges: .privileges
        case .keepCapabilities: .capabilities
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
