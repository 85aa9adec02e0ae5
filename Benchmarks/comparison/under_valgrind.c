// Preloaded where valgrind counts instructions.
//
// libdispatch waits for signals with a mask that stands in read-only memory; valgrind 3.19 writes into it, and crashes.
// And a media process that is to be counted must live until it has told its count: it ends with its socket, too.

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

// As <linux/prctl.h> has it; <sys/prctl.h> declares the function otherwise.
enum { PR_SET_PDEATHSIG = 1 };

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}

int prctl(int operation, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    return operation == PR_SET_PDEATHSIG ? 0 : (int)syscall(SYS_prctl, operation, a, b, c, d);
}
