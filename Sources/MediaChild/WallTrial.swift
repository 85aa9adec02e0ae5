import Glibc
import Linux
import MediaEngine
import RichPush

/// One try to get through one wall, in a process around which that wall alone was raised.
struct WallTrial {
    private let attempt: WallAttempt?
    /// The parent allows one.
    private static let spinSeconds = 3

    init(_ attempt: WallAttempt?) {
        self.attempt = attempt
    }

    /// Raises the wall and tries; a wall that kills leaves no code at all.
    func run() -> CInt {
        guard let attempt else { return EXIT_FAILURE }
        // Landlock and seccomp hold only in a process that can gain no privileges.
        let missing = MediaChildWalls.raise([.privileges, attempt.wall])
        guard missing.isEmpty else { return MediaChildExit.wallMissing }
        return succeeds(attempt) ? MediaChildExit.attemptSucceeded : MediaChildExit.attemptRefused
    }

    private func succeeds(_ attempt: WallAttempt) -> Bool {
        switch attempt {
        case .gainPrivileges: !ProcessFlags.refusesNewPrivileges
        case .keepCapabilities: Capabilities.hasAny || (getuid() == 0 && Capabilities.hasBounding)
        case .readFile: Trespass.reads("/etc/passwd")
        case .openFile: Trespass.reads("/dev/null")
        case .listFolder: Trespass.lists("/")
        case .writeFile: Trespass.writes(into: "/tmp")
        case .connect: Trespass.opensSocket()
        case .execute: Trespass.executes("/bin/true")
        case .fork: Trespass.forks()
        case .trace: Trespass.traces()
        case .signal: Trespass.signals(getppid())
        case .makeCodeExecutable: Trespass.makesMemoryExecutable()
        case .allocate: Trespass.allocates(bytes: Limits.childAddressSpaceBytesMax)
        case .spin: Trespass.spins(seconds: Self.spinSeconds)
        case .growFile: Trespass.grows(Trespass.memoryFile(), to: Limits.childFileBytesMax)
        case .openManyFiles: Trespass.opens(descriptors: Limits.childOpenFilesMax)
        case .dump: ResourceLimit.coreDump.current != 0 || !ProcessFlags.refusesDumps
        case .outliveParent: waits
        }
    }

    /// Until somebody ends it; the parent is told that it may go.
    private var waits: Bool {
        let socket = MessageSocket(adopting: ChildProcess.socketDescriptor)
        guard (try? socket.send([1])) != nil else { return true }
        while true { pause() }
    }
}
