import CLinux
import Glibc
import SafeArithmetic
import Synchronization

/// A child process with one inherited descriptor. Its owner must kill and reap it.
///
/// Linux: `posix_spawn(3)`. The child has its own process group, so that Ctrl-C only signals the parent.
package final class ChildProcess: Sendable {
    /// The descriptor of the socket in the child.
    package static let socketDescriptor: CInt = 3

    /// How a child ended.
    package enum Ending: Sendable, Hashable {
        case exited(code: CInt)
        case killed(signal: CInt)
    }

    package let processID: CInt
    private let ending = Mutex<Ending?>(nil)

    private init(processID: pid_t) {
        self.processID = processID
    }

    /// Starts an executable with `socket` as descriptor 3, and standard input, output and error on `/dev/null`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the program name.
    ///   - environment: The whole environment of the child.
    package static func spawn(
        path: String, arguments: [String] = [], socket: MessageSocket, environment: [String: String] = [:]
    ) throws(SystemError) -> ChildProcess {
        try spawn([path] + arguments, environment: environment, inheriting: socket.descriptor, as: socketDescriptor)
    }

    /// Starts an executable with `output` as standard output; standard input and error are `/dev/null`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the program name.
    ///   - environment: The whole environment of the child.
    package static func spawn(
        path: String, arguments: [String] = [], output: CInt, environment: [String: String]
    ) throws(SystemError) -> ChildProcess {
        try spawn([path] + arguments, environment: environment, inheriting: output, as: STDOUT_FILENO)
    }

    private static func spawn(
        _ arguments: [String], environment: [String: String], inheriting descriptor: CInt, as number: CInt
    ) throws(SystemError) -> ChildProcess {
        var actions = unsafe posix_spawn_file_actions_t()
        try check(unsafe posix_spawn_file_actions_init(&actions), call: "posix_spawn_file_actions_init")
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for standard in CInt(0)...2 where standard != number {
            let flags = standard == 0 ? O_RDONLY : O_WRONLY
            try check(
                unsafe posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", flags, 0), call: "addopen")
        }
        try check(unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, number), call: "adddup2")
        try check(unsafe CLinux_spawn_close_from(&actions, max(STDERR_FILENO, number) + 1), call: "addclosefrom")
        var attributes = posix_spawnattr_t()
        try check(unsafe posix_spawnattr_init(&attributes), call: "posix_spawnattr_init")
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        try unsafe resetSignals(&attributes)
        return try unsafe spawn(arguments, actions: &actions, attributes: &attributes, environment: environment)
    }

    /// Unblocks and resets all signals, since blocked and ignored ones are inherited over exec.
    private static func resetSignals(_ attributes: UnsafeMutablePointer<posix_spawnattr_t>) throws(SystemError) {
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        try check(unsafe posix_spawnattr_setsigmask(attributes, &none), call: "setsigmask")
        try check(unsafe posix_spawnattr_setsigdefault(attributes, &all), call: "setsigdefault")
        try check(unsafe posix_spawnattr_setpgroup(attributes, 0), call: "setpgroup")
        try check(unsafe posix_spawnattr_setflags(attributes, CLinux_spawn_flags()), call: "setflags")
    }

    private static func spawn(
        _ words: [String], actions: UnsafePointer<posix_spawn_file_actions_t>,
        attributes: UnsafePointer<posix_spawnattr_t>, environment: [String: String]
    ) throws(SystemError) -> ChildProcess {
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            unsafe arguments.forEach { unsafe free($0) }
            unsafe variables.forEach { unsafe free($0) }
        }
        var processID: pid_t = 0
        let code = unsafe posix_spawn(&processID, words[0], actions, attributes, &arguments, &variables)
        guard code == 0 else { throw SystemError("posix_spawn", code: code) }
        return ChildProcess(processID: processID)
    }

    private static func check(_ code: CInt, call: String) throws(SystemError) {
        guard code == 0 else { throw SystemError(call, code: code) }
    }

    /// Kills the child unless it was reaped; its process ID may then belong to another process.
    package func kill() {
        ending.withLock { ending in
            if ending == nil { _ = Glibc.kill(processID, SIGKILL) }
        }
    }

    /// Kills the child and all processes of its group, also when the child itself has ended, unless it was reaped.
    package func killGroup() {
        ending.withLock { ending in
            if ending == nil { _ = Glibc.kill(-processID, SIGKILL) }
        }
    }

    /// Whether the child has ended; it must still be reaped.
    package var hasEnded: Bool {
        ending.withLock { ending in
            var information = unsafe siginfo_t()
            let code = unsafe waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT | WNOHANG)
            // If the child has not ended, the call succeeds and si_signo stays 0.
            let signal = unsafe information.si_signo
            return ending != nil || code < 0 || signal != 0
        }
    }

    /// Waits for the child to end, on a thread that may block; false when it has not ended in time.
    package func waitUntilEnded(milliseconds: Int) -> Bool {
        for _ in 0..<milliseconds where !hasEnded { usleep(1_000) }
        return hasEnded
    }

    /// Waits for the child to end and reaps it; call it after the child was killed or has closed its socket.
    package func reap() -> Ending {
        var status: CInt = 0
        // WNOWAIT leaves the child unreaped, so that the lock, which `kill` needs, is not held during the wait.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return ending.withLock { ending in
            if let ending { return ending }
            while unsafe waitpid(processID, &status, 0) < 0, errno == EINTR {}
            let signal = CLinux_ending_signal(status)
            let result: Ending = signal == 0 ? .exited(code: status >> 8 & 0xFF) : .killed(signal: signal)
            ending = result
            return result
        }
    }
}

/// Limits that a parent sets for a child process, which cannot raise them.
package enum ProcessLimits {
    /// Limits the total processor time of a child to whole seconds; it is then ended with SIGXCPU.
    ///
    /// Linux: `prlimit(2)`, the soft limit of RLIMIT_CPU, never above the hard limit.
    package static func limitProcessorTime(seconds: Int, of child: ChildProcess) throws(SystemError) {
        precondition(seconds > 0, "RLIMIT_CPU treats 0 as 1")
        guard CLinux_prlimit_processor(child.processID, UInt64(clamping: seconds)) == 0 else {
            throw SystemError("prlimit")
        }
    }

    /// Sets the nice value of a child and all its threads to 1 to 19; it cannot be lowered again.
    ///
    /// Linux: `setpriority(2)`, which with PRIO_PROCESS sets only one thread. The child has its own process group, and
    /// with PRIO_PGRP all its threads are set.
    package static func lowerPriority(by niceness: Int, _ child: ChildProcess) throws(SystemError) {
        precondition(1...19 ~= niceness, "the nice value must be 1 to 19")
        guard setpriority(CInt(bitPattern: PRIO_PGRP.rawValue), id_t(child.processID), CInt(clamping: niceness)) == 0
        else {
            throw SystemError("setpriority")
        }
    }
}

/// The memory and processor time of a process, cheap enough to be polled.
///
/// Linux: `/proc/PID/statm`, opened once, and `clock_getcpuclockid(3)`. That of a child is valid until it is reaped.
package final class ProcessUsage: Sendable {
    private let processID: pid_t
    private let memory: CInt

    package convenience init(of child: ChildProcess) throws(SystemError) {
        try self.init(processID: child.processID)
    }

    init(processID: pid_t) throws(SystemError) {
        self.processID = processID
        memory = unsafe open("/proc/\(processID)/statm", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw SystemError("open") }
    }

    deinit {
        close(memory)
    }

    /// Seven numbers of up to 20 digits.
    private static let textBytesMax = 160

    /// Resident memory in bytes, including mapped files; nil once the child has ended.
    package var residentBytes: Int? {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.textBytesMax, alignment: 1) { text in
            let count = unsafe pread(memory, text.baseAddress, text.count, 0)
            guard count > 0 else { return nil }
            // In pages: total, resident, shared…
            let fields = unsafe Array(text.prefix(count)).split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard fields.count == 3 else { return nil }
            guard let pages = Int(String(decoding: fields[1], as: UTF8.self)), pages > 0 else { return nil }
            return pages.multiplied(clamping: sysconf(CInt(clamping: _SC_PAGESIZE)))
        }
    }

    /// Processor time of all threads in seconds; nil once the child has ended.
    package var processorSeconds: Double? {
        var clock = clockid_t()
        return unsafe clock_getcpuclockid(processID, &clock) == 0 ? Self.seconds(clock) : nil
    }

    /// The time of a clock in seconds; nil for the clock of a process that has ended.
    static func seconds(_ clock: clockid_t) -> Double? {
        var time = timespec()
        guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
