// SPDX-License-Identifier: MIT
// struct CpuTimer takes samples of one thread after each interval of the
// thread's own CPU time. A timer on the thread's CPU clock sends a signal to
// the thread, and the signal's handler reads the thread's own frames into a
// ring (timer_create(2), SIGEV_THREAD_ID). Since Linux 5.9
// (CONFIG_POSIX_CPU_TIMERS_TASK_WORK), the kernel sends the signal when the
// thread returns to user space. A sleeping thread is therefore never
// interrupted, and its timer costs nothing.
//
// The sampler's thread sets the timers, frees the timers and reads the rings.
// The sampler's thread also makes the timers for the threads in its list. A
// thread that starts later makes its own timer, because it may end before the
// sampler gets the next list of threads.
//
// The signal handler runs on the sampled thread. The signal handler calls only
// clock_gettime, rt_sigprocmask and the functions of main_signals.h. The signal
// handler allocates nothing, takes no lock, and uses no thread-local memory
// except errno, which it restores.
//
// If a thread has blocked the signal, the thread's timer is muted. A muted
// timer does not run until the thread or the sampler finds that the signal is
// no longer blocked.
#pragma once

#include "tracer/code/registry.h"
#include "tracer/sample/sample_ring.h"
#include "tracer/sample/timer_signal.h"

#include <signal.h>
#include <time.h>

// The data that all timers of one sampler share. The caller zeroes the struct
// before it calls CpuTimers_open.
struct CpuTimers {
    // `registry`, `layout` and `clock` are not owned.
    struct Registry *registry;
    const struct FrameLayout *layout;
    const struct Clock *clock;
    // A list of timers that were freed but whose signal handlers may still run.
    struct CpuTimer *closing;
    // Number of the signal that takes samples, or 0 if there are no timers. If
    // there are no timers, `error` has the reason.
    _Atomic int signal;
    int error; // -errno if the signal's handler could not be installed, or 0.
    uint64_t refused; // Number of times that a thread could not get a timer.
    // Largest time in ticks that counts as the cost of one sample. A sample
    // that took more ticks was interrupted by other programs.
    uint64_t most;
    uint64_t tick_ns; // ns between two checks of CPU clocks by the kernel.
    pid_t pid; // Id of the process, which is also the id of its main thread.
    // The table for walks over C functions, which the struct does not own. If C
    // functions are not walked, `natives` or the table is NULL.
    struct NativeTable *const _Atomic *natives;
    // List of timers that threads have made for themselves, and that the
    // sampler has not taken yet.
    struct CpuTimer *_Atomic begun;
};

struct CpuTimer {
    // Only the signal handler on the sampled thread writes the fields from
    // `sampled_ns` to `native`.

    // Value of the thread's CPU clock, in ns, when the newest sample was taken.
    _Atomic uint64_t sampled_ns;
    // Number of samples that the signal handler has tried to take.
    counter_t taken;
    // Ticks that the signal handler has spent on all samples.
    counter_t handler_ticks;
    struct WalkStart start;
    struct Walk walk;
    struct NativeWalk native;

    // CPU time up to this value of the thread's CPU clock, in ns, was
    // attributed without a sample. CPU time needs no further sample up to the
    // larger one of `sampled_ns` and `accounted_ns`.
    _Atomic uint64_t accounted_ns;
    // The PyThreadState that the signal handler uses if FrameLayout.own_state
    // returns 0. Only the sampler's thread writes `state`.
    _Atomic uintptr_t state;
    // Number of threads that this timer represents, because not all threads
    // have a timer. The weight of each sample is multiplied by `represents`.
    // The sampler sets `represents` to 1 when it gets a list that contains the
    // thread.
    _Atomic uint32_t represents;
    // Weight in ns of the thread's first sample. If `first_ns` is 0, the weight
    // is the thread's CPU time up to this sample.
    uint64_t first_ns;
    struct CpuTimers *timers;
    struct CpuTimer *next; // Next timer in the list `closing` or `begun`.
    timer_t timer;
    int signal;
    pid_t tid;
    uint32_t slot;
    // ns of CPU time between two samples, or 0 if the timer does not run.
    uint64_t interval_ns;
    struct Mute mute;
    // Value of Mute.word at the time when `interval_ns` was set.
    uint32_t seen_mute;
    // Values of `taken`, `handler_ticks` and `ring.lost` when the sampler last
    // added them to its sums.
    uint64_t seen_taken, seen_ticks, seen_lost;
    struct SampleRing ring; // The samples, which only the sampler takes out.
};

// Installs the handler of the signal that takes samples. If `signal` is 0,
// chooses a signal that has no handler. The signal handler is never removed,
// because the kernel may deliver a signal late. If no handler can be installed,
// CpuTimer_new always returns NULL, and `error` has the reason. -EBUSY means
// that each signal has a handler, -EINVAL that the chosen signal cannot be
// used, and -EPERM that a thread cannot read its own memory.
void CpuTimers_open(struct CpuTimers *timers, int signal);
// Returns true if the program has installed its own handler for the sampler's
// signal.
bool CpuTimers_lost_signal(const struct CpuTimers *timers);
// Waits for up to a second until no signal handler uses a timer. The caller has
// freed all timers before.
void CpuTimers_close(struct CpuTimers *timers);
// Forgets all timers in a forked child, which inherits no timers.
void CpuTimers_abandon(struct CpuTimers *timers);

// Makes a timer for the thread `tid`. The new timer does not run until
// CpuTimer_set. If the kernel refuses, for example because RLIMIT_SIGPENDING is
// reached, returns NULL and adds 1 to `refused`.
struct CpuTimer *CpuTimer_new(struct CpuTimers *timers, uintptr_t state,
                              pid_t tid);
// Makes a timer for the calling thread, which has just started. The first
// sample comes at a random tick of the kernel within the first interval, and
// weighs a whole interval. The random number `random` chooses the tick of the
// first sample. Sums over many threads are therefore right even if every thread
// ends within its first sampling interval. The sampler gets the timer from
// CpuTimers_take_begun. Returns false if the kernel refuses or there is no
// memory. Any thread may call CpuTimer_begin.
bool CpuTimer_begin(struct CpuTimers *timers, uintptr_t state,
                    uint64_t interval_ns, uint32_t represents, uint64_t random);
// Returns the timers that threads have made for themselves since the last call,
// in a list that is linked by `next`. The caller owns the timers of this list.
struct CpuTimer *CpuTimers_take_begun(struct CpuTimers *timers);
// Makes the timer take a sample after each `interval_ns` of CPU time. If
// `interval_ns` is 0, stops the timer.
void CpuTimer_set(struct CpuTimer *timer, uint64_t interval_ns);
// Must be called by each thread that has changed its signal mask. Mutes the
// thread's timer if the thread has blocked the signal, and otherwise lets the
// timer run again. If the signal is blocked, also removes the sampler's pending
// signals from the thread. Threads without a timer may call CpuTimer_note_mask,
// too.
void CpuTimer_note_mask(void);
// Takes a sample of the calling thread, as the signal handler does. The thread
// has used `now_ns` of CPU time and was interrupted at the address `counter`.
// CpuTimer_sample is async-signal-safe.
void CpuTimer_sample(struct CpuTimer *timer, uint64_t now_ns,
                     uintptr_t counter);
// CpuTimer_account is called when the thread's CPU time up to `cpu_ns` needs no
// further sample.
void CpuTimer_account(struct CpuTimer *timer, uint64_t cpu_ns);
// Returns the value of the thread's CPU clock at its newest sample, or 0 if
// there is no sample.
uint64_t CpuTimer_sampled_ns(const struct CpuTimer *timer);
// Returns the value of the thread's CPU clock up to which CPU time needs no
// further sample.
uint64_t CpuTimer_covered_ns(const struct CpuTimer *timer);
// Frees the timer, which may be NULL. The samples in the timer's ring are lost.
// The timer's memory is freed when no signal handler uses it any more.
void CpuTimer_free(struct CpuTimer *timer);
