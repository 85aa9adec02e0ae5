// Linux as Swift needs it: the control-message macros, variadic system calls and GNU-only calls that Swift does not
// import. Prefixed CLinux_, with the call's own name after the prefix.
#ifndef CLinux_SHIM_H
#define CLinux_SHIM_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <fcntl.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// How many descriptors travel with one message: a source and three outputs. A constant of ours, for the buffer below.
static const int CLinux_descriptors_max = 4;

// CMSG_SPACE and its like are macros over pointer arithmetic. Sends bytes and, beside them, open descriptors. With
// flags 0 it waits for room, with MSG_DONTWAIT a full socket is EAGAIN.
static inline ssize_t CLinux_sendmsg(
    int socket, const void *bytes, size_t length, const int *descriptors, int count, int flags) {
    char control[CMSG_SPACE(sizeof(int) * 4)] = {0};
    struct iovec part = {(void *) bytes, length};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t) count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * (size_t) count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * (size_t) count);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | flags);
}

// As above, the other way. Received descriptors close on exec; a message that did not fit is EMSGSIZE.
static inline ssize_t CLinux_recvmsg(int socket, void *bytes, size_t length, int *descriptors, int *count) {
    char control[CMSG_SPACE(sizeof(int) * 4)] = {0};
    struct iovec part = {bytes, length};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    *count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        *count = (int) ((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), sizeof(int) * (size_t) *count);
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        for (int index = 0; index < *count; index++) close(descriptors[index]);
        *count = 0;
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}

// prctl is variadic.
static inline int CLinux_prctl_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL); }

// As above: nothing this process executes may give it more rights than it has.
static inline int CLinux_prctl_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// As above: 1 once that is so.
static inline int CLinux_prctl_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }

// As above: no core dump, and no other process of this user may look into this one.
static inline int CLinux_prctl_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// As above: 0 once that is so.
static inline int CLinux_prctl_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

// As above: takes a capability out of what a program it executes could ever have; EINVAL for a number that the kernel
// does not know.
static inline int CLinux_prctl_capbset_drop(unsigned long number) { return prctl(PR_CAPBSET_DROP, number, 0, 0, 0); }

// As above: 1 for one that is still there.
static inline int CLinux_prctl_capbset_read(unsigned long number) { return prctl(PR_CAPBSET_READ, number, 0, 0, 0); }

// As above: a user ID of 0 means nothing from now on, and never again.
static inline int CLinux_prctl_lock_securebits(void) {
    return prctl(PR_SET_SECUREBITS, 0xefUL, 0, 0, 0);
}

// As above.
static inline int CLinux_prctl_clear_ambient(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }

// glibc has no capset: effective, permitted and inheritable capabilities of this thread become none.
static inline int CLinux_capset_none(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    return (int) syscall(SYS_capset, &header, data);
}

// glibc has no capget: 1 when this thread has any of them, 0 for none, -1 with errno.
static inline int CLinux_capget_any(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &header, data) != 0) return -1;
    for (int word = 0; word < 2; word++) {
        if (data[word].effective | data[word].permitted | data[word].inheritable) return 1;
    }
    return 0;
}

// glibc has no Landlock. The kernel's ABI version, or -1 with ENOSYS or EOPNOTSUPP.
static inline int CLinux_landlock_version(void) { return (int) syscall(444, NULL, (size_t) 0, 1u); }

// What a rule set takes away: Debian 12's header stops at version 2, the kernel takes as much of it as it knows.
struct CLinux_landlock_ruleset {
    unsigned long long files;
    unsigned long long network;
    unsigned long long scoped;
};

// As above. Returns a descriptor.
static inline int CLinux_landlock_create_ruleset(const struct CLinux_landlock_ruleset *rules, size_t length) {
    return (int) syscall(444, rules, length, 0u);
}

// As above.
static inline int CLinux_landlock_restrict_self(int ruleset) { return (int) syscall(446, ruleset, 0u); }

// glibc has no seccomp. The filter holds for this thread and those it starts.
static inline int CLinux_seccomp_set_filter(const struct sock_fprog *program) {
    return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0u, program);
}

// offsetof is a macro: where a filter finds the architecture, the number and an argument's lower half.
static const unsigned CLinux_seccomp_architecture = offsetof(struct seccomp_data, arch);
static const unsigned CLinux_seccomp_number = offsetof(struct seccomp_data, nr);
static const unsigned CLinux_seccomp_arguments = offsetof(struct seccomp_data, args);

// Casts of flags: what a filter answers.
static const unsigned CLinux_seccomp_allow = SECCOMP_RET_ALLOW;
static const unsigned CLinux_seccomp_errno = SECCOMP_RET_ERRNO;
static const unsigned CLinux_seccomp_kill = SECCOMP_RET_KILL_PROCESS;

// As above: the machine that this was built for; no filter fits another.
static inline unsigned CLinux_audit_architecture(void) {
#if defined(__x86_64__)
    return AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    return AUDIT_ARCH_AARCH64;
#else
    return 0;
#endif
}

// glibc declares it only for _GNU_SOURCE: fstatat's flag for the descriptor itself.
static const unsigned CLinux_at_empty_path = 0x1000;

// setrlimit's first parameter is an enum in C++ and GNU C that Swift sees as a type of its own.
static inline int CLinux_setrlimit(int resource, unsigned long long soft, unsigned long long hard) {
    struct rlimit limit = {soft, hard};
    return setrlimit((__rlimit_resource_t) resource, &limit);
}

// As above: the soft limit; all ones when it cannot be read.
static inline unsigned long long CLinux_getrlimit(int resource) {
    struct rlimit limit = {0, 0};
    return getrlimit((__rlimit_resource_t) resource, &limit) == 0 ? limit.rlim_cur : ~0ULL;
}

// syscall is variadic. The bare call, for tries that glibc would soften or Swift does not offer.
static inline long CLinux_syscall(long number, long a, long b, long c, long d) {
    return syscall(number, a, b, c, d);
}

// glibc declares renameat2 only for _GNU_SOURCE. Exchanges two paths in one step.
static inline int CLinux_renameat2_exchange(const char *one, const char *other) {
    return (int) syscall(SYS_renameat2, -100, one, -100, other, RENAME_EXCHANGE);
}

// As above. Fails with EEXIST where the plain rename would replace an empty folder.
static inline int CLinux_renameat2_new(const char *from, const char *to) {
    return (int) syscall(SYS_renameat2, -100, from, -100, to, RENAME_NOREPLACE);
}

// glibc declares pthread_setname_np only for _GNU_SOURCE; the symbol is always there.
int CLinux_pthread_setname(unsigned long thread, const char *name) __asm__("pthread_setname_np");

// As above. A library's descriptors that do not close on exec must not reach the child.
int CLinux_spawn_close_from(void *actions, int first) __asm__("posix_spawn_file_actions_addclosefrom_np");

// POSIX_SPAWN_SETPGROUP and its like are macros that Swift imports as Int32 where the call wants a short.
static inline short CLinux_spawn_flags(void) { return 0x02 | 0x04 | 0x08; /* SETPGROUP, SETSIGDEF, SETSIGMASK */ }

// WIFSIGNALED and WTERMSIG are macros: the signal that ended a process, 0 when it ended by itself.
static inline int CLinux_ending_signal(int status) { return (status & 0x7f) == 0x7f ? 0 : status & 0x7f; }

// --- The parent's watch over its children ---

// glibc declares prlimit only for _GNU_SOURCE. Moves the soft limit of a process's seconds, as far as the hard one lets
// it: a hard limit that was lowered could not be raised again.
static inline int CLinux_prlimit_processor(int process, uint64_t seconds) {
    uint64_t limits[2]; /* soft and hard, as the kernel's rlimit64 */
    if (syscall(SYS_prlimit64, process, RLIMIT_CPU, NULL, limits) != 0) return -1;
    limits[0] = seconds < limits[1] ? seconds : limits[1];
    return (int) syscall(SYS_prlimit64, process, RLIMIT_CPU, limits, NULL);
}

// recvmsg alone is let through by the media child's filter. The length of the next message, which stays where it is.
static inline ssize_t CLinux_recvmsg_length(int socket) {
    struct msghdr message = {0};
    return recvmsg(socket, &message, MSG_PEEK | MSG_TRUNC);
}

// glibc declares pipe2 only for _GNU_SOURCE, which a Swift module cannot define in time.
int CLinux_pipe2(int ends[2], int flags) __asm__("pipe2");

// O_CLOEXEC is a macro that differs between machines.
static inline int CLinux_pipe(int ends[2]) { return CLinux_pipe2(ends, O_CLOEXEC); }

// EFD_CLOEXEC and its like are an enumeration that Swift imports as values it cannot join.
static inline int CLinux_eventfd_semaphore(void) { return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); }

// --- The mark of a crash ---

// A signal handler may call little, and nothing of Swift's: it writes one line of fixed length over the first bytes of
// a file that was opened before, gives the signal to the handler that was there before, and lets the process end by it.
// Signals that somebody else sent (kill, systemd's watchdog) are no crash of ours and leave no mark.
static const int CLinux_crash_signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGSYS};
// The handler that was there before, by the signal's place above. Inside a function: Swift emits no definition of a
// tentative one outside.
static inline struct sigaction *CLinux_crash_former(size_t index) {
    static struct sigaction former[sizeof(CLinux_crash_signals) / sizeof(int)];
    return &former[index];
}
// As above: the file, -1 for none.
static volatile int CLinux_crash_file = -1;
// As above: the line, whose digits are the signal's number.
static char CLinux_crash_line[] = "crashed 00      \n";
// As above: without the zero at its end.
static const int CLinux_crash_line_length = sizeof(CLinux_crash_line) - 1;

// As above: the handler.
static void CLinux_crash_handle(int number, siginfo_t *information, void *context) {
    int is_own = information->si_code > 0 || information->si_pid == getpid();
    int file = CLinux_crash_file;
    if (is_own && file >= 0) {
        CLinux_crash_line[8] = (char) ('0' + number / 10 % 10);
        CLinux_crash_line[9] = (char) ('0' + number % 10);
        ssize_t written = pwrite(file, CLinux_crash_line, CLinux_crash_line_length, 0);
        (void) written;
    }
    for (size_t index = 0; index < sizeof(CLinux_crash_signals) / sizeof(int); index++) {
        if (CLinux_crash_signals[index] != number) continue;
        struct sigaction *former = CLinux_crash_former(index);
        // Put back first: a second fault in the former handler must not come here again.
        sigaction(number, former, NULL);
        // Swift's backtraces want the state at the fault, which only this context has.
        if ((former->sa_flags & SA_SIGINFO) && former->sa_sigaction) former->sa_sigaction(number, information, context);
    }
    signal(number, SIG_DFL);
    raise(number);
}

// From now on a crash leaves its mark in that file; -1 for none. The handlers are set once.
static inline int CLinux_crash_mark(int file) {
    static int is_set = 0;
    CLinux_crash_file = file;
    if (is_set || file < 0) return 0;
    is_set = 1;
    for (size_t index = 0; index < sizeof(CLinux_crash_signals) / sizeof(int); index++) {
        struct sigaction action = {0};
        action.sa_sigaction = CLinux_crash_handle;
        // On a thread's own stack for signals where it has one: its usual one may be what has run over. Nothing is
        // blocked meanwhile: Swift's backtraces find out by SIGSEGV which memory can be read.
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigemptyset(&action.sa_mask);
        if (sigaction(CLinux_crash_signals[index], &action, CLinux_crash_former(index)) != 0) return -1;
    }
    return 0;
}

#endif
