// Linux interfaces that Swift does not import: control-message macros, variadic functions and GNU extensions. Each name
// is the prefix CLinux_ and the name of the call.
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

// The most descriptors per message: a source, three outputs, 17 pictures, a signal pipe. Not from a system header; used
// for the buffers below.
static const int CLinux_descriptors_max = 24;

// CMSG_SPACE and the related names are macros. Sends bytes with attached descriptors. With flags 0 it waits for buffer
// space; with MSG_DONTWAIT it fails with EAGAIN when the buffer is full.
static inline ssize_t CLinux_sendmsg(
    int socket, const void *bytes, size_t length, const int *descriptors, int count, int flags) {
    char control[CMSG_SPACE(sizeof(int) * 24)] = {0};
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

// As above, for receiving. Received descriptors are closed on exec; fails with EMSGSIZE for a message that is too long.
static inline ssize_t CLinux_recvmsg(int socket, void *bytes, size_t length, int *descriptors, int *count) {
    char control[CMSG_SPACE(sizeof(int) * 24)] = {0};
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

// As above: executed programs cannot gain privileges.
static inline int CLinux_prctl_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// As above: 1 if that is set.
static inline int CLinux_prctl_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }

// As above: no core dumps, and no access to this process's memory by other processes of the same user.
static inline int CLinux_prctl_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// As above: 0 if that is set.
static inline int CLinux_prctl_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

// As above: removes a capability from the bounding set; fails with EINVAL above the kernel's last capability.
static inline int CLinux_prctl_capbset_drop(unsigned long number) { return prctl(PR_CAPBSET_DROP, number, 0, 0, 0); }

// As above: 1 for a capability that is in the bounding set.
static inline int CLinux_prctl_capbset_read(unsigned long number) { return prctl(PR_CAPBSET_READ, number, 0, 0, 0); }

// As above: user ID 0 has no special rights, permanently.
static inline int CLinux_prctl_lock_securebits(void) {
    return prctl(PR_SET_SECUREBITS, 0xefUL, 0, 0, 0);
}

// As above: clears the ambient set.
static inline int CLinux_prctl_clear_ambient(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }

// glibc has no capset: clears the effective, permitted and inheritable capabilities of this thread.
static inline int CLinux_capset_none(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    return (int) syscall(SYS_capset, &header, data);
}

// glibc has no capget: 1 if this thread has any of them, 0 if none, -1 with errno set.
static inline int CLinux_capget_any(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &header, data) != 0) return -1;
    for (int word = 0; word < 2; word++) {
        if (data[word].effective | data[word].permitted | data[word].inheritable) return 1;
    }
    return 0;
}

// glibc has no Landlock functions. The kernel's ABI version, or -1 with ENOSYS or EOPNOTSUPP.
static inline int CLinux_landlock_version(void) { return (int) syscall(444, NULL, (size_t) 0, 1u); }

// The rights that a ruleset restricts. Debian 12's header ends at version 2; the size passed selects the version.
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

// glibc has no seccomp function. The filter applies to this thread and threads it starts.
static inline int CLinux_seccomp_set_filter(const struct sock_fprog *program) {
    return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0u, program);
}

// offsetof is a macro: the offsets of the architecture, the call number and the arguments for a filter.
static const unsigned CLinux_seccomp_architecture = offsetof(struct seccomp_data, arch);
static const unsigned CLinux_seccomp_number = offsetof(struct seccomp_data, nr);
static const unsigned CLinux_seccomp_arguments = offsetof(struct seccomp_data, args);

// Macros with casts: the return values of a filter.
static const unsigned CLinux_seccomp_allow = SECCOMP_RET_ALLOW;
static const unsigned CLinux_seccomp_errno = SECCOMP_RET_ERRNO;
static const unsigned CLinux_seccomp_kill = SECCOMP_RET_KILL_PROCESS;

// As above: the architecture of this build, for which the filter is valid.
static inline unsigned CLinux_audit_architecture(void) {
#if defined(__x86_64__)
    return AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    return AUDIT_ARCH_AARCH64;
#else
    return 0;
#endif
}

// AT_EMPTY_PATH, which glibc declares only with _GNU_SOURCE: fstatat's flag for the descriptor itself.
static const unsigned CLinux_at_empty_path = 0x1000;

// The first parameter of setrlimit is an enum with _GNU_SOURCE, which Swift imports as a separate type.
static inline int CLinux_setrlimit(int resource, unsigned long long soft, unsigned long long hard) {
    struct rlimit limit = {soft, hard};
    return setrlimit((__rlimit_resource_t) resource, &limit);
}

// As above: the soft limit; all bits set when it cannot be read.
static inline unsigned long long CLinux_getrlimit(int resource) {
    struct rlimit limit = {0, 0};
    return getrlimit((__rlimit_resource_t) resource, &limit) == 0 ? limit.rlim_cur : ~0ULL;
}

// syscall is variadic. For escape attempts that glibc would alter or Swift does not import.
static inline long CLinux_syscall(long number, long a, long b, long c, long d) {
    return syscall(number, a, b, c, d);
}

// glibc declares renameat2 only with _GNU_SOURCE. Exchanges two paths atomically.
static inline int CLinux_renameat2_exchange(const char *one, const char *other) {
    return (int) syscall(SYS_renameat2, -100, one, -100, other, RENAME_EXCHANGE);
}

// As above. Fails with EEXIST where rename would replace a file or an empty folder.
static inline int CLinux_renameat2_new(const char *from, const char *to) {
    return (int) syscall(SYS_renameat2, -100, from, -100, to, RENAME_NOREPLACE);
}

// glibc declares pthread_setname_np only with _GNU_SOURCE, but always exports it.
int CLinux_pthread_setname(unsigned long thread, const char *name) __asm__("pthread_setname_np");

// As above. Closes descriptors of libraries that are not closed on exec, so that the child does not inherit them.
int CLinux_spawn_close_from(void *actions, int first) __asm__("posix_spawn_file_actions_addclosefrom_np");

// POSIX_SPAWN_SETPGROUP and the related macros are imported as Int32, but the call takes a short.
static inline short CLinux_spawn_flags(void) { return 0x02 | 0x04 | 0x08; /* SETPGROUP, SETSIGDEF, SETSIGMASK */ }

// WIFSIGNALED and WTERMSIG are macros: the signal that ended a process, 0 if it exited.
static inline int CLinux_ending_signal(int status) { return (status & 0x7f) == 0x7f ? 0 : status & 0x7f; }

// --- Supervision of child processes ---

// glibc declares prlimit only with _GNU_SOURCE. Sets the soft RLIMIT_CPU of a process, at most to its hard limit, which
// stays: a lowered hard limit cannot be raised again.
static inline int CLinux_prlimit_processor(int process, uint64_t seconds) {
    uint64_t limits[2]; /* soft and hard, as the kernel's rlimit64 */
    if (syscall(SYS_prlimit64, process, RLIMIT_CPU, NULL, limits) != 0) return -1;
    limits[0] = seconds < limits[1] ? seconds : limits[1];
    return (int) syscall(SYS_prlimit64, process, RLIMIT_CPU, limits, NULL);
}

// The length of the next message, without receiving it. Uses recvmsg because the media process's filter allows it.
static inline ssize_t CLinux_recvmsg_length(int socket) {
    struct msghdr message = {0};
    return recvmsg(socket, &message, MSG_PEEK | MSG_TRUNC);
}

// glibc declares pipe2 only with _GNU_SOURCE, which a Swift module cannot define before glibc's headers are read.
int CLinux_pipe2(int ends[2], int flags) __asm__("pipe2");

// O_CLOEXEC is a macro whose value depends on the architecture.
static inline int CLinux_pipe(int ends[2]) { return CLinux_pipe2(ends, O_CLOEXEC); }

// EFD_CLOEXEC and EFD_SEMAPHORE are enum values, which Swift cannot combine.
static inline int CLinux_eventfd_semaphore(void) { return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); }

#endif
