// Makes the slow path of Swift's Mutex visible to the thread sanitizer; preloaded by `make test-tsan`.
//
// The fast path is inlined into instrumented code, where the sanitizer sees the atomic operation. With contention the
// lock is passed on inside libswiftSynchronization (a futex), which is not instrumented: the sanitizer misses the
// happens-before relation and reports a false race. These wrappers of the two slow-path functions announce it. Nothing
// is suppressed: unguarded variables are still reported.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// Present in processes built with the sanitizer, absent in others that the tests start.
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
