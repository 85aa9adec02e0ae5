import Glibc
package import Linux
package import MediaEngine
import MediaTypes

/// The sandbox layers that the media process enables before it receives untrusted data.
///
/// All layers apply to threads started later, need no privileges, and cannot be disabled again.
package enum MediaProcessSandbox {
    /// Enables the layers; must be called after all libraries are loaded and before any thread is started.
    ///
    /// - Returns: The layers that could not be enabled, each with the error.
    package static func enable(_ layers: [SandboxLayer] = SandboxLayer.allCases) -> [(
        layer: SandboxLayer, error: SystemError
    )] {
        // Landlock and seccomp apply to the calling thread and threads it starts; other threads stay unrestricted.
        let isSingleThreaded = (ProcessFlags.threadCount ?? 1) == 1
        let threadErrors =
            isSingleThreaded ? [] : [(layer: SandboxLayer.files, error: SystemError("other threads run", code: EBUSY))]
        return threadErrors
            + order.filter(layers.contains).compactMap { layer in
                do throws(SystemError) {
                    try enable(layer)
                    return nil
                } catch {
                    return (layer, error)
                }
            }
    }

    /// The seccomp filter is last, since it blocks the calls that enable other layers. Landlock requires `privileges`.
    private static let order: [SandboxLayer] = [
        .capabilities, .privileges, .parentDeath, .coreDumps, .memory, .fileSize, .openFiles, .files, .systemCalls,
    ]

    private static func enable(_ layer: SandboxLayer) throws(SystemError) {
        switch layer {
        case .privileges: try ProcessFlags.preventNewPrivileges()
        case .capabilities: try Capabilities.dropAll()
        case .parentDeath: try ProcessFlags.dieWithParent()
        case .coreDumps: try disableDumps()
        case .memory: try ResourceLimit.addressSpace.set(Limits.mediaProcessAddressSpaceBytesMax)
        // The parent sets this limit for each call.
        case .processorTime: break
        case .fileSize: try limitFileSize()
        case .openFiles: try ResourceLimit.openFiles.set(Limits.mediaProcessOpenFilesMax)
        case .files: try Landlock.denyEverything()
        case .systemCalls: try SystemCallFilter.computing(socket: ChildProcess.socketDescriptor).install()
        }
    }

    private static func disableDumps() throws(SystemError) {
        try ResourceLimit.coreDump.set(0)
        try ProcessFlags.disableDumps()
    }

    /// Sets the file size limit; exceeding it makes the write fail instead of ending the process by SIGXFSZ.
    private static func limitFileSize() throws(SystemError) {
        _ = signal(SIGXFSZ, SIG_IGN)
        try ResourceLimit.fileSize.set(Limits.mediaProcessFileBytesMax)
    }
}

/// One escape attempt, in a process in which only the layer under test is enabled.
struct SandboxProbe {
    private let attempt: EscapeKind?
    /// Longer than the 1 s of processor time that the parent allows.
    private static let spinSeconds = 3

    init(_ attempt: EscapeKind?) {
        self.attempt = attempt
    }

    /// Enables the layer and makes the attempt; when the layer kills the process, there is no exit code.
    func run() -> CInt {
        guard let attempt else { return EXIT_FAILURE }
        // Landlock and seccomp require a process that cannot gain privileges.
        let missing = MediaProcessSandbox.enable([.privileges, attempt.layer])
        guard missing.isEmpty else { return MediaProcessExit.sandboxUnavailable }
        return succeeds(attempt) ? MediaProcessExit.attemptSucceeded : MediaProcessExit.attemptBlocked
    }

    private func succeeds(_ attempt: EscapeKind) -> Bool {
        switch attempt {
        case .gainPrivileges: !ProcessFlags.preventsNewPrivileges
        case .keepCapabilities: Capabilities.hasAny || (getuid() == 0 && Capabilities.hasBounding)
        case .readFile: EscapeAttempt.reads("/etc/passwd")
        case .openFile: EscapeAttempt.reads("/dev/null")
        case .listFolder: EscapeAttempt.lists("/")
        case .writeFile: EscapeAttempt.writes(into: "/tmp")
        case .connect: EscapeAttempt.opensSocket()
        case .execute: EscapeAttempt.executes("/bin/true")
        case .fork: EscapeAttempt.forks()
        case .trace: EscapeAttempt.traces()
        case .signal: EscapeAttempt.signals(getppid())
        case .makeCodeExecutable: EscapeAttempt.makesMemoryExecutable()
        case .allocate: EscapeAttempt.allocates(bytes: Limits.mediaProcessAddressSpaceBytesMax)
        case .spin: EscapeAttempt.spins(seconds: Self.spinSeconds)
        case .growFile: EscapeAttempt.grows(EscapeAttempt.memoryFile(), to: Limits.mediaProcessFileBytesMax)
        case .openManyFiles: EscapeAttempt.opens(descriptors: Limits.mediaProcessOpenFilesMax)
        case .dump: ResourceLimit.coreDump.current != 0 || !ProcessFlags.areDumpsDisabled
        case .outliveParent: waitForever
        }
    }

    /// Signals the parent that the process is ready, then waits until it is killed.
    private var waitForever: Bool {
        let socket = MessageSocket(adopting: ChildProcess.socketDescriptor)
        guard (try? socket.send([1])) != nil else { return true }
        while true { pause() }
    }
}
