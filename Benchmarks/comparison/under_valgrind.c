// Preloaded into programs under valgrind.
//
// libdispatch waits for signals with a mask in read-only memory; valgrind 3.19 writes to it and crashes. The parent
// death signal is disabled, so that a media process can write its count; it still ends when its socket closes.

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

// From <linux/prctl.h>; <sys/prctl.h> declares prctl differently.
enum { PR_SET_PDEATHSIG = 1 };

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}

int prctl(int operation, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    return operation == PR_SET_PDEATHSIG ? 0 : (int)syscall(SYS_prctl, operation, a, b, c, d);
}
