// SPDX-License-Identifier: MIT
// Reads which thread has the GIL, and tells whether a thread waits for the GIL.
// The GIL is a struct of CPython, which consists of a mutex, two condition
// variables and numbers. The functions only read, and take no lock. Any thread
// may call them, and so may a signal handler.
#ifndef OCULAR_TRACER_SAMPLE_GIL_H
#define OCULAR_TRACER_SAMPLE_GIL_H

#include "tracer/base/share.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum GilWait {
    GIL_UNREADABLE, // the kernel does not say what the thread does
    GIL_UNANSWERED, // no answer this time; the thread may have ended
    GIL_READY,      // the thread runs, or waits for a CPU
    GIL_ELSEWHERE,  // the thread waits for something else
    GIL_WAITS       // the thread waits for the GIL
};

// Has the addresses of CPython's GIL. python/ fills this struct. All pointers
// are valid as long as the process lives.
struct Gil {
    uintptr_t from, to; // CPython's struct is at these addresses
    const int *locked;
    const uintptr_t *last_holder; // PyThreadState
    // Number of times that the GIL went to another thread than its last holder.
    const unsigned long *switches;
    // If a thread has waited this number of us without a switch, the thread
    // requests the GIL. Then the holder must pass the GIL on, as soon as the
    // holder runs Python's code.
    const unsigned long *interval_us;
    // The request has this bit in an int at `request`, or, if `request` is
    // NULL, in a word at this offset of the holder's PyThreadState.
    const int *request;
    size_t thread_request;
    uintptr_t request_bit;
    // Tells what a thread does; Gil_wait, or a test's function.
    enum GilWait (*wait)(const struct Gil *gil, pid_t tid, uint64_t *ready_ns);
};

// The part of a SampledThread that is about the GIL.
struct GilThread {
    struct ShareValue held, waited;
    // ns off the CPU whose reason is not known yet. They fade as shares do, and
    // `faded_ns` has what has faded.
    double off_ns, faded_ns;
    uint64_t ready_ns; // as the kernel said last; 0 before the first answer
    bool sleeps; // true if the newest observation found no wait for the GIL
    // The hold in which the newest sample or observation found the thread.
    // Another thread had requested the GIL already.
    bool holds;
    uint32_t switches; // Gil_switches during the hold
    uint64_t since;    // ticks of the first sample or observation in the hold
};

// Returns the PyThreadState of the thread that has the GIL, or 0.
static inline uintptr_t Gil_holder(const struct Gil *gil)
{
    return __atomic_load_n(gil->locked, __ATOMIC_ACQUIRE) == 1
               ? __atomic_load_n(gil->last_holder, __ATOMIC_ACQUIRE)
               : 0;
}

static inline uint32_t Gil_switches(const struct Gil *gil)
{
    return (uint32_t)__atomic_load_n(gil->switches, __ATOMIC_ACQUIRE);
}

// Returns true if another thread has requested the GIL from the calling thread,
// which has the GIL.
static inline bool Gil_is_requested(const struct Gil *gil, uintptr_t state)
{
    const uintptr_t *word = (const void *)(state + gil->thread_request);

    return gil->request ? __atomic_load_n(gil->request, __ATOMIC_RELAXED) != 0
                        : (__atomic_load_n(word, __ATOMIC_RELAXED) &
                           gil->request_bit) != 0;
}

// Asks the kernel in which system call the thread is. A thread that waits for
// the GIL waits for a futex within CPython's struct. Sets *ready_ns to the time
// for which the thread was ready to run and had no CPU, since the thread began.
// If the kernel does not count this time, *ready_ns is 0.
enum GilWait Gil_wait(const struct Gil *gil, pid_t tid, uint64_t *ready_ns);

#endif
