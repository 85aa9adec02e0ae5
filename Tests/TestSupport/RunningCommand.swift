import Foundation

/// A running program, which can be signaled and waited for.
///
/// It leads its own process group and inherits only the standard descriptors and `inherited`, so parallel tests do not
/// keep each other's pipes and sockets open. Output goes to files: it need not be read while the program runs, and a
/// grandchild that still writes delays nothing.
public final class RunningCommand: Sendable {
    public let processID: pid_t
    private let command: RunCommand
    private let folder: TemporaryFolder
    private let state = State()

    /// The exit code, set by the thread that waits for the process.
    private final class State: @unchecked Sendable {
        // Guarded by `condition`, which is broadcast when it is set.
        var exitCode: Int32?
        let condition = NSCondition()
    }

    init(_ command: RunCommand) throws {
        self.command = command
        folder = try TemporaryFolder()
        try folder.write(command.input, to: "stdin")
        processID = try Self.spawn(command, in: folder)
        let (processID, state) = (processID, state)
        Thread.detachNewThread { Self.awaitEnd(of: processID, state) }
    }

    /// Sends a signal to the process alone; does nothing when it has ended.
    public func send(_ signal: Int32) {
        send(signal, to: processID)
    }

    /// Sends a signal to the process group; does nothing when the process has ended.
    public func sendToGroup(_ signal: Int32) {
        send(signal, to: -processID)
    }

    private func send(_ signal: Int32, to receiver: pid_t) {
        state.condition.withLock {
            // The process is reaped under the same lock, so its ID cannot have been reused.
            if state.exitCode == nil { _ = kill(receiver, signal) }
        }
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool { state.condition.withLock { state.exitCode == nil } }

    /// What it has written to standard error so far.
    public func errorTextSoFar() throws -> String { String(decoding: try folder.bytes(of: "stderr"), as: UTF8.self) }

    /// What it has written to standard output so far.
    public func textSoFar() throws -> String { String(decoding: try folder.bytes(of: "stdout"), as: UTF8.self) }

    /// Waits for its end on a thread of its own.
    public func result() async throws -> CommandResult {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try self.resultBlocking() }) }
        }
    }

    /// Waits for its end on the caller's thread; kills its process group on timeout.
    public func resultBlocking() throws -> CommandResult {
        let limit = Date(timeIntervalSinceNow: command.timeoutSeconds)
        let exitCode: Int32? = state.condition.withLock {
            while state.exitCode == nil {
                guard state.condition.wait(until: limit) else { break }
            }
            if state.exitCode == nil { _ = kill(-processID, SIGKILL) }
            return state.exitCode
        }
        guard let exitCode else {
            throw CommandError(
                description: """
                    \(command.program) \(command.arguments.joined(separator: " ")) did not end within \
                    \(command.timeoutSeconds) s and was killed; its standard error: \(try errorTextSoFar())
                    """)
        }
        return CommandResult(
            exitCode: exitCode, output: try folder.bytes(of: "stdout"), errorOutput: try folder.bytes(of: "stderr"))
    }

    private static func awaitEnd(of processID: pid_t, _ state: State) {
        var information = siginfo_t()
        // WNOWAIT leaves it a zombie, whose ID cannot be reused, until the lock is held.
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
        state.condition.withLock {
            var status: Int32 = 0
            while waitpid(processID, &status, 0) == -1 && errno == EINTR {}
            let signal = status & 0x7f
            state.exitCode = signal == 0 ? (status >> 8) & 0xff : 128 + signal
            state.condition.broadcast()
        }
    }

    private static func spawn(_ command: RunCommand, in folder: TemporaryFolder) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, folder.path("stdin"), O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder.path("stdout"), O_RDWR | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder.path("stderr"), O_RDWR | O_CREAT | O_APPEND, 0o600)
        let firstClosed = 3 + CInt(command.inherited.count)
        for (target, descriptor) in zip(3..<firstClosed, command.inherited) {
            posix_spawn_file_actions_adddup2(&actions, descriptor, target)
        }
        for descriptor in firstClosed..<descriptorsEnd() { posix_spawn_file_actions_addclose(&actions, descriptor) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)

        var environment = ProcessInfo.processInfo.environment
        for (name, value) in command.environment { environment[name] = value }
        var processID: pid_t = 0
        // Swift does not import posix_spawn's action to change the folder.
        let arguments = (command.folder.map { ["env", "--chdir", $0] } ?? []) + [command.program] + command.arguments
        let status = withCStrings(arguments) { argv in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawnp(&processID, arguments[0], &actions, &attributes, argv, variables)
            }
        }
        guard status == 0 else {
            throw CommandError(
                description: "\(command.program) did not start: \(String(cString: strerror(status))); "
                    + "`make deps deps-test` installs what the tests run")
        }
        return processID
    }

    /// One past the descriptors that are open now or may be opened by another test before the spawn. Closing one that
    /// is not open is no error there; glibc's action to close a range is not imported into Swift.
    private static func descriptorsEnd() -> Int32 {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap(Int32.init) ?? []
        return max(256, (open.max() ?? 0) + 64)
    }

    private static func withCStrings<R>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}
