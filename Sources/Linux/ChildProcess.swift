import CLinux
import Glibc
import Synchronization

/// A running child with one inherited socket; killed and reaped by its owner.
///
/// Linux: `posix_spawn(3)`. The child stands in a process group of its own, so that Ctrl-C reaches its parent alone.
package final class ChildProcess: Sendable {
    /// The number under which the child finds its socket.
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

    /// Starts an executable with that socket as descriptor 3, no standard input and silent outputs.
    ///
    /// - Parameters:
    ///   - arguments: the words after the program's name.
    ///   - environment: the child's whole environment.
    package static func spawn(
        path: String, arguments: [String] = [], socket: MessageSocket, environment: [String: String] = [:]
    ) throws(SystemError) -> ChildProcess {
        var actions = unsafe posix_spawn_file_actions_t()
        try check(unsafe posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init")
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for standard in CInt(0)...2 {
            let flags = standard == 0 ? O_RDONLY : O_WRONLY
            try check(
                unsafe posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", flags, 0), "addopen")
        }
        try check(
            unsafe posix_spawn_file_actions_adddup2(&actions, socket.descriptor, socketDescriptor), "adddup2")
        try check(unsafe CLinux_spawn_close_from(&actions, socketDescriptor + 1), "addclosefrom")
        var attributes = posix_spawnattr_t()
        try check(unsafe posix_spawnattr_init(&attributes), "posix_spawnattr_init")
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        try unsafe resetSignals(&attributes)
        return try unsafe spawn([path] + arguments, &actions, &attributes, environment)
    }

    /// An ignored or blocked signal is inherited over exec: the child begins with none of either.
    private static func resetSignals(_ attributes: UnsafeMutablePointer<posix_spawnattr_t>) throws(SystemError) {
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        try check(unsafe posix_spawnattr_setsigmask(attributes, &none), "setsigmask")
        try check(unsafe posix_spawnattr_setsigdefault(attributes, &all), "setsigdefault")
        try check(unsafe posix_spawnattr_setpgroup(attributes, 0), "setpgroup")
        try check(unsafe posix_spawnattr_setflags(attributes, CLinux_spawn_flags()), "setflags")
    }

    private static func spawn(
        _ words: [String], _ actions: UnsafePointer<posix_spawn_file_actions_t>,
        _ attributes: UnsafePointer<posix_spawnattr_t>, _ environment: [String: String]
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

    private static func check(_ code: CInt, _ call: String) throws(SystemError) {
        guard code == 0 else { throw SystemError(call, code: code) }
    }

    /// Ends the child now, unless it was reaped: its number may then be another process's.
    package func kill() {
        ending.withLock { ending in
            if ending == nil { _ = Glibc.kill(processID, SIGKILL) }
        }
    }

    /// Whether it has ended by itself; it is still to be reaped.
    package var hasEnded: Bool {
        ending.withLock { ending in
            var information = unsafe siginfo_t()
            let code = unsafe waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT | WNOHANG)
            // Without an ended child the call succeeds and leaves the signal's number at 0.
            let signal = unsafe information.si_signo
            return ending != nil || code < 0 || signal != 0
        }
    }

    /// Waits for it to end by itself, on a thread that may block; false when it did not in that time.
    package func waitUntilEnded(milliseconds: Int) -> Bool {
        for _ in 0..<milliseconds where !hasEnded { usleep(1_000) }
        return hasEnded
    }

    /// Waits for the end and reaps the child; call it once the child was killed or closed its socket.
    package func reap() -> Ending {
        var status: CInt = 0
        // The exit is waited for without taking it, so that nobody holds the lock that `kill` needs meanwhile.
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
