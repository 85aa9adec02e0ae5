// Shifts the time of day of one process: LD_PRELOAD of tools/faults. The file FAULTS_CLOCK has the shift in
// nanoseconds, as a 64-bit number that can change at any time. Clocks that a step of the machine's clock does not
// change, as those of processor time, are not shifted; libfaketime 0.9.10 shifts them as well.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t none;
static volatile int64_t *shift = &none;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) shift = page;
    close(file);
}

static struct timespec shifted(struct timespec time, int64_t by) {
    int64_t nanoseconds = time.tv_sec * INT64_C(1000000000) + time.tv_nsec + by;
    return (struct timespec) { nanoseconds / 1000000000, nanoseconds % 1000000000 };
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) *time = shifted(*time, *shift);
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval) { now.tv_sec, now.tv_nsec / 1000 };
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// The kernel waits by the clock of the machine.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    static int (*next)(sem_t *, const struct timespec *);
    if (!next) next = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec real = shifted(*until, -*shift);
    return next(semaphore, &real);
}
