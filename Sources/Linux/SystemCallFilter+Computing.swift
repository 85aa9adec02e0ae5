import CLinux
import Glibc

extension SystemCallFilter {
    /// What a process may ask that computes on descriptors which were opened before or come over one socket.
    ///
    /// Memory, threads, clocks, and reading and writing what is open. Files cannot be opened, memory cannot be made
    /// executable. Sockets, programs, processes and signals to others are nothing a decoder has business with: an
    /// attempt ends the process.
    ///
    /// - Parameter socket: the only descriptor over which messages go.
    package static func computing(socket: CInt) -> SystemCallFilter {
        SystemCallFilter(
            rules: frequent + conditional(socket: socket) + rare + fatal.map { SystemCallRule($0, .kill) },
            otherwise: .fail(errno: EPERM))
    }

    /// Nearly all of the calls while a picture or a movie is worked on.
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
            // Its flags lie in memory, where a filter cannot look: glibc then takes clone.
            SystemCallRule(SYS_clone3, .fail(errno: ENOSYS)),
            SystemCallRule(allowing: SYS_sendmsg, if: [.argument(0, is: UInt32(socket))], otherwise: .kill),
            SystemCallRule(allowing: SYS_recvmsg, if: [.argument(0, is: UInt32(socket))], otherwise: .kill),
            // A look at how long the next message is.
            SystemCallRule(allowing: SYS_recvfrom, if: [.argument(0, is: UInt32(socket))], otherwise: .kill),
            // glibc's fstat. A path cannot be looked at by a filter, so this tells whether a file exists, and its size.
            SystemCallRule(
                allowing: SYS_newfstatat, if: [.argument(3, is: CLinux_at_empty_path)],
                otherwise: .fail(errno: EPERM)),
            // abort ends the process by a signal to itself.
            SystemCallRule(allowing: SYS_tgkill, if: [.argument(0, is: own)], otherwise: .kill),
            SystemCallRule(
                allowing: SYS_prctl, if: [.argument(0, is: UInt32(PR_SET_NAME))], otherwise: .fail(errno: EPERM)),
            SystemCallRule(allowing: SYS_fcntl, if: descriptorFlags, otherwise: .fail(errno: EPERM)),
            // Reading a limit, of which glibc makes a thread's stack; 0 stands for no new one.
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
