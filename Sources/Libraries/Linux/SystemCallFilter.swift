import CLinux
import Glibc

/// A seccomp filter: the system calls that a process may make.
///
/// Linux: `seccomp(2)` with a BPF program. It applies to the calling thread and threads it starts, needs no privilege
/// after `ProcessFlags.preventNewPrivileges`, and is permanent.
package struct SystemCallFilter: Sendable {
    private var program: [sock_filter] = []

    /// - Parameters:
    ///   - rules: The rules in the order in which they are evaluated; put frequent calls first.
    ///   - otherwise: The action for calls without a rule.
    package init(rules: [SystemCallRule], otherwise: SystemCallRule.Action) {
        begin()
        for rule in rules { append(rule) }
        answer(otherwise)
    }

    package func install() throws(SystemError) {
        var instructions = program
        let code = unsafe instructions.withUnsafeMutableBufferPointer { buffer in
            var whole = unsafe sock_fprog(len: UInt16(buffer.count), filter: buffer.baseAddress)
            return unsafe CLinux_seccomp_set_filter(&whole)
        }
        guard code == 0 else { throw SystemError("seccomp") }
    }

    // MARK: BPF program

    /// Kills the process for calls of another architecture or of x32, whose numbers have other meanings.
    private mutating func begin() {
        load(CLinux_seccomp_architecture)
        skip(1, unless: false, equals: CLinux_audit_architecture())
        answer(.kill)
        load(CLinux_seccomp_number)
        #if arch(x86_64)
            let firstOfX32: UInt32 = 0x4000_0000
            program.append(
                sock_filter(code: UInt16(BPF_JMP | BPF_JGE | BPF_K), jt: 0, jf: 1, k: firstOfX32))
            answer(.kill)
        #endif
    }

    private mutating func append(_ rule: SystemCallRule) {
        guard !rule.conditions.isEmpty else {
            skip(1, unless: true, equals: UInt32(rule.number))
            answer(rule.action)
            return
        }
        // Each condition takes four instructions, the final action one; another call skips them all.
        skip(UInt8(rule.conditions.count * 4 + 1), unless: true, equals: UInt32(rule.number))
        for condition in rule.conditions {
            // Supported architectures are little-endian: the lower half comes first.
            load(CLinux_seccomp_arguments + UInt32(condition.argument * MemoryLayout<UInt64>.size))
            program.append(sock_filter(code: UInt16(BPF_ALU | BPF_AND | BPF_K), jt: 0, jf: 0, k: condition.mask))
            skip(1, unless: true, equals: condition.value)
            answer(rule.action)
        }
        answer(rule.otherwise)
    }

    private mutating func load(_ offset: UInt32) {
        program.append(sock_filter(code: UInt16(BPF_LD | BPF_W | BPF_ABS), jt: 0, jf: 0, k: offset))
    }

    /// Skips `count` instructions if the loaded value equals `value`; with `unless`, if it does not.
    private mutating func skip(_ count: UInt8, unless: Bool, equals value: UInt32) {
        program.append(
            sock_filter(
                code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: unless ? 0 : count, jf: unless ? count : 0, k: value))
    }

    private mutating func answer(_ action: SystemCallRule.Action) {
        let value: UInt32 =
            switch action {
            case .allow: CLinux_seccomp_allow
            case .fail(let number): CLinux_seccomp_errno | UInt32(number)
            case .kill: CLinux_seccomp_kill
            }
        program.append(sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: value))
    }
}

extension SystemCallFilter {
    /// The filter of the media process, which works on open descriptors and those received over one socket.
    ///
    /// It allows memory, threads, clocks, and reading and writing open descriptors. Opening files and making memory
    /// executable fail. Sockets, executing programs, creating processes and signaling others end the process, because a
    /// decoder never needs them.
    ///
    /// - Parameter socket: The only descriptor on which messages may be sent and received.
    package static func computing(socket: CInt) -> SystemCallFilter {
        SystemCallFilter(
            rules: frequent + conditional(socket: socket) + rare + fatal.map { SystemCallRule($0, .kill) },
            otherwise: .fail(errno: EPERM))
    }

    /// Nearly all system calls during media work.
    private static let frequent: [SystemCallRule] = [
        SYS_futex, SYS_pread64, SYS_pwrite64, SYS_read, SYS_lseek, SYS_brk, SYS_madvise, SYS_munmap,
        SYS_rt_sigprocmask, SYS_close, SYS_clock_gettime,
    ].map { SystemCallRule($0, .allow) }

    private static let rare: [SystemCallRule] =
        [
            SYS_write, SYS_writev, SYS_readv, SYS_ftruncate, SYS_fadvise64, SYS_dup, SYS_fstat,
            SYS_mremap, SYS_set_robust_list, SYS_rseq, SYS_membarrier, SYS_exit, SYS_exit_group,
            SYS_rt_sigaction, SYS_rt_sigreturn, SYS_sigaltstack, SYS_restart_syscall,
            SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getattr, SYS_sysinfo, SYS_uname,
            SYS_gettid, SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
            SYS_gettimeofday, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_getrusage, SYS_getrandom,
        ].map { SystemCallRule($0, .allow) }

    private static func conditional(socket: CInt) -> [SystemCallRule] {
        let executable = UInt32(PROT_EXEC)
        let thread = UInt32(CLONE_VM | CLONE_THREAD | CLONE_SIGHAND)
        let own = UInt32(getpid())
        let descriptorFlags = [F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC].map {
            SystemCallRule.Condition.argument(1, is: UInt32($0))
        }
        return [
            SystemCallRule(
                allowing: SYS_mmap, if: [.argument(2, lacks: executable)], otherwise: .fail(errno: EACCES)),
            SystemCallRule(
                allowing: SYS_mprotect, if: [.argument(2, lacks: executable)], otherwise: .fail(errno: EACCES)),
            SystemCallRule(allowing: SYS_clone, if: [.argument(0, has: thread)], otherwise: .kill),
            // Its flags are in memory, which a filter cannot read. After ENOSYS, glibc uses clone.
            SystemCallRule(SYS_clone3, .fail(errno: ENOSYS)),
            SystemCallRule(allowing: SYS_sendmsg, if: [.argument(0, is: UInt32(socket))], otherwise: .kill),
            SystemCallRule(allowing: SYS_recvmsg, if: [.argument(0, is: UInt32(socket))], otherwise: .kill),
            // Reads the length of the next message.
            SystemCallRule(allowing: SYS_recvfrom, if: [.argument(0, is: UInt32(socket))], otherwise: .kill),
            // glibc's fstat. A filter cannot read the path, so the process can find out whether a file exists, and its
            // size.
            SystemCallRule(
                allowing: SYS_newfstatat, if: [.argument(3, is: CLinux_at_empty_path)],
                otherwise: .fail(errno: EPERM)),
            // abort(3) sends a signal to its own process.
            SystemCallRule(allowing: SYS_tgkill, if: [.argument(0, is: own)], otherwise: .kill),
            SystemCallRule(
                allowing: SYS_prctl, if: [.argument(0, is: UInt32(PR_SET_NAME))], otherwise: .fail(errno: EPERM)),
            SystemCallRule(allowing: SYS_fcntl, if: descriptorFlags, otherwise: .fail(errno: EPERM)),
            // Only reads a limit (no new value), as glibc does for the stack size of a thread.
            SystemCallRule(allowing: SYS_prlimit64, if: [.argument(2, is: 0)], otherwise: .fail(errno: EPERM)),
        ]
    }

    private static var fatal: [Int32] {
        var calls: [Int32] = [
            SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
            SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
            SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal,
            SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
            SYS_sendto, SYS_sendmmsg, SYS_recvmmsg,
            SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter,
            SYS_io_uring_register, SYS_add_key, SYS_request_key, SYS_keyctl,
            SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_chroot, SYS_pivot_root,
            SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,
            SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capset,
        ]
        #if arch(x86_64)
            calls += [SYS_fork, SYS_vfork]
        #endif
        return calls
    }
}

/// The rule for one system call in a `SystemCallFilter`.
package struct SystemCallRule: Sendable {
    /// What the kernel does.
    package enum Action: Sendable, Hashable {
        case allow
        /// The call fails with this errno value.
        case fail(errno: CInt)
        /// The whole process is killed with SIGSYS.
        case kill
    }

    /// A condition on the lower 32 bits of an argument; only for arguments of which the kernel reads no more.
    package struct Condition: Sendable {
        package let argument: Int
        package let mask: UInt32
        package let value: UInt32

        /// The argument equals `value`.
        package static func argument(_ argument: Int, is value: UInt32) -> Condition {
            Condition(argument: argument, mask: .max, value: value)
        }

        /// The argument has all of `bits` set.
        package static func argument(_ argument: Int, has bits: UInt32) -> Condition {
            Condition(argument: argument, mask: bits, value: bits)
        }

        /// The argument has none of `bits` set.
        package static func argument(_ argument: Int, lacks bits: UInt32) -> Condition {
            Condition(argument: argument, mask: bits, value: 0)
        }
    }

    package let number: Int32
    /// `action` applies if any of them is met, or if there are none.
    package let conditions: [Condition]
    package let action: Action
    /// The action when no condition is met.
    package let otherwise: Action

    /// A call with an unconditional action.
    package init(_ number: Int32, _ action: Action) {
        self.number = number
        self.action = action
        conditions = []
        otherwise = action
    }

    /// A call that is allowed when any of the conditions is met.
    package init(allowing number: Int32, if conditions: [Condition], otherwise: Action) {
        self.number = number
        self.conditions = conditions
        action = .allow
        self.otherwise = otherwise
    }
}
