// SPDX-License-Identifier: MIT
// Reads which thread has the GIL, and finds out whether a thread waits for the
// GIL. CPython's GIL is a struct of a mutex, two condition variables and
// numbers. The functions of gil.h only read CPython's GIL struct and take no
// lock. Any thread and any signal handler may call the functions of gil.h.
#pragma once

#include "tracer/base/share.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum GilWait {
    GIL_UNREADABLE, // The kernel does not say what the thread does.
    // The kernel has not answered the newest question, perhaps because the
    // thread has ended.
    GIL_UNANSWERED,
    GIL_READY,     // The thread runs, or waits for a CPU.
    GIL_ELSEWHERE, // The thread waits for something else than the GIL or a CPU.
    GIL_WAITS      // The thread waits for the GIL.
};

// A question about what a thread does, and the kernel's answer.
struct GilQuestion {
    pid_t tid; // Id of the thread, which the caller sets.
    // The caller sets `own_files` to true if it has its own table of
    // descriptors.
    bool own_files;
    // ns for which the thread was ready to run but had no CPU, since the thread
    // began, or 0 if the kernel does not count them.
    uint64_t ready_ns;
    enum WaitKind kind; // The kind of the thread's wait, if it waits.
    bool polls; // True if the thread waits for any of several descriptors.
    // True if the kernel does not count for how long a thread is ready to run.
    bool ready_unknown;
};

// The addresses of CPython's GIL and of its parts. The code in python/ fills
// this struct. All pointers are valid as long as the process lives.
struct Gil {
    // First address of CPython's GIL struct, and the address after its end.
    uintptr_t from, to;
    const int *locked;
    // Address of the PyThreadState that has or last had the GIL.
    const uintptr_t *last_holder;
    // Number of times that the GIL went to another thread than its last holder.
    const unsigned long *switches;
    // CPython's switch interval in us. A thread that has waited for the GIL
    // this long requests the GIL. When another thread requests the GIL, the
    // holder of the GIL must release it as soon as it runs Python code.
    const unsigned long *interval_us;
    // CPython stores a request for the GIL in the int at `request`. If
    // `request` is NULL, CPython sets the bit `request_bit` of a word in the
    // holder's PyThreadState, at the offset `thread_request`.
    const int *request;
    size_t thread_request;
    uintptr_t request_bit;
    // Finds out what a thread does. The pointer is Gil_wait, except in tests.
    enum GilWait (*wait)(const struct Gil *gil, struct GilQuestion *question);
};

// The part of struct SampledThread that is about the GIL.
struct GilThread {
    struct ShareValue held, waited;
    // ns for which the thread was off the CPU for a reason that is not known
    // yet. `off_ns` decays as shares do, and `faded_ns` is the part that has
    // decayed.
    double off_ns, faded_ns;
    // ns for which the thread was ready to run but had no CPU, by the kernel's
    // last answer, or 0 before the first answer.
    uint64_t ready_ns;
    // True if the newest observation found that the thread does not wait for
    // the GIL.
    bool sleeps;
    // Of each `stride` observations that need an answer, the kernel is asked at
    // the one with the number `turn`. `passed` is the number of observations so
    // far.
    uint32_t stride, turn, passed;
    // ns off the CPU since the last observation that needed an answer. The
    // fields from `all_ns` to `told_ns` decay as shares do.
    double all_ns;
    // The fields from `since_ns` on describe the time since an answer last had
    // the kind of the wait. `since_ns` is the time off the CPU, and
    // `starved_ns` is its part in which the thread was ready to run but had no
    // CPU. The kernel counts a wait for a CPU when it ends.
    double since_ns, starved_ns;
    // `owed_ns` is waiting time whose kind later answers will give. `told_ns`
    // is the part of `owed_ns` that a function already has as a wait for a CPU.
    double owed_ns, told_ns;
    // True if the newest sample or observation found that the thread has the
    // GIL although another thread has requested it.
    bool holds;
    uint32_t switches; // Value of Gil_switches while the thread has the GIL.
    // Ticks of the first sample or observation since the thread last took the
    // GIL.
    uint64_t since;
    // Number of samples since `since`. If a thread has run for a sample's time
    // although the GIL was requested from it, it is in a call of C. A thread
    // that sleeps with the GIL is in one, too, and counts as two samples.
    unsigned proofs;
    // Number of the hold in the log of stalls (EventLoops_hold), or 0.
    uint64_t stall;
};

// Returns the address of the PyThreadState that has the GIL, or 0 if no thread
// has the GIL.
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

// Returns true if another thread has requested the GIL. The caller has the GIL,
// and `state` is the caller's PyThreadState.
static inline bool Gil_is_requested(const struct Gil *gil, uintptr_t state)
{
    const uintptr_t *word = (const void *)(state + gil->thread_request);

    return gil->request ? __atomic_load_n(gil->request, __ATOMIC_RELAXED) != 0
                        : (__atomic_load_n(word, __ATOMIC_RELAXED) &
                           gil->request_bit) != 0;
}

// Asks the kernel in which system call a thread is, which shows what the thread
// does. A thread that waits for the GIL waits for a futex within CPython's GIL
// struct.
enum GilWait Gil_wait(const struct Gil *gil, struct GilQuestion *question);
