// Makes the contended half of Swift's Mutex visible to the thread sanitizer; preloaded by `make test-tsan`.
//
// Locking without contention is inlined into our own code, where the sanitizer sees the atomic. With contention the
// lock changes hands inside libswiftSynchronization (a futex), which is not built for the sanitizer: it then knows of
// no order between the two threads, and calls what the lock guards a race. Here the two functions of that slow path say
// so to it. Nothing is suppressed: a variable that no lock guards is still reported.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// There in a process that was built for the sanitizer, absent in others that the tests start.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

// Synchronization._MutexHandle._lockSlow(UInt32) and ._unlockSlow(), in Swift's calling convention.
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

SWIFT void visible_lock_slow(uint32_t thread, SELF void *self) __asm__(LOCK_SLOW);
SWIFT void visible_unlock_slow(SELF void *self) __asm__(UNLOCK_SLOW);

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

SWIFT void visible_lock_slow(uint32_t thread, SELF void *self) {
    SWIFT void (*lock)(uint32_t, SELF void *) = next(LOCK_SLOW);
    lock(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void visible_unlock_slow(SELF void *self) {
    SWIFT void (*unlock)(SELF void *) = next(UNLOCK_SLOW);
    if (__tsan_release) __tsan_release(self);
    unlock(self);
}
