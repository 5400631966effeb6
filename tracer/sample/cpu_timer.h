// SPDX-License-Identifier: MIT
// Samples of a thread in its own CPU time. A timer on the thread's CPU clock
// sends a signal to the thread, and the handler reads the thread's own frames
// into a ring (timer_create(2), SIGEV_THREAD_ID). A sleeping thread costs
// nothing and is never interrupted: since Linux 5.9
// (CONFIG_POSIX_CPU_TIMERS_TASK_WORK) the kernel raises the signal on the way
// back to user space.
//
// The sampler's thread sets and frees the timers and reads the rings. The
// sampler's thread makes timers for the threads of its list. A thread that
// starts meanwhile makes its own timer, because it may end before the next
// list. The handler runs on the sampled thread. The handler calls only
// clock_gettime, rt_sigprocmask and the calls of main_signals.h. The handler
// allocates nothing, takes no lock, and uses no thread-local memory except
// errno, which it restores.
//
// If a thread has blocked the signal, the thread's timer is muted. A muted
// timer stands still until the thread or the sampler sees that the signal is no
// longer blocked.
#ifndef OCULAR_TRACER_SAMPLE_CPU_TIMER_H
#define OCULAR_TRACER_SAMPLE_CPU_TIMER_H

#include "tracer/code/registry.h"
#include "tracer/sample/sample_ring.h"
#include "tracer/sample/timer_signal.h"

#include <signal.h>
#include <time.h>

// The data that all timers of one sampler share. The caller zeroes the struct
// before CpuTimers_open.
struct CpuTimers {
    struct Registry *registry; // the first three pointers are borrowed
    const struct FrameLayout *layout;
    const struct Clock *clock;
    struct CpuTimer *closing; // freed timers whose handlers may still run
    _Atomic int signal;       // 0: no timers, `error` says why
    int error;                // -errno
    uint64_t refused;         // how often a thread could not have a timer
    // A sample is charged at most this many ticks. Other programs had the CPU
    // in further ticks.
    uint64_t most;
    uint64_t tick_ns; // between two checks of CPU clocks by the kernel
    pid_t pid;        // id of the process and of its main thread
    // timers made by their threads and not taken yet
    struct CpuTimer *_Atomic begun;
};

struct CpuTimer {
    // Only the handler on the sampled thread writes the next five fields.

    // The thread's CPU clock at the newest sample in the ring.
    _Atomic uint64_t sampled_ns;
    counter_t taken;         // samples that were tried
    counter_t handler_ticks; // ticks that these samples took
    struct WalkStart start;
    struct Walk walk;

    // The thread's CPU clock up to which the sampler has accounted without a
    // sample. The time up to the later one of `sampled_ns` and `accounted_ns`
    // is covered.
    _Atomic uint64_t accounted_ns;
    // The PyThreadState that is used if FrameLayout.own_state knows none. The
    // sampler's thread writes this field.
    _Atomic uintptr_t state;
    // The number of threads that this thread represents. The weights of its
    // samples are multiplied by this number. The sampler sets the number to 1
    // when it lists the thread.
    _Atomic uint32_t represents;
    uint64_t first_ns; // first sample's weight; 0: the time since the start
    struct CpuTimers *timers;
    struct CpuTimer *next; // next timer in `closing` or `begun`
    timer_t timer;
    int signal;
    pid_t tid;
    uint32_t slot;
    uint64_t interval_ns; // of CPU time; 0: the timer stands still
    struct Mute mute;
    uint32_t seen_mute; // `mute.word` when `interval_ns` was set
    // values that are in the sampler's sums
    uint64_t seen_taken, seen_ticks, seen_lost;
    struct SampleRing ring;
};

// Installs the handler for `signal`, or for a signal without a handler if
// `signal` is 0. The handler stays for good, because a signal may come late. If
// no handler can be installed, CpuTimer_new always returns NULL. In this case
// `error` is -EBUSY (each signal has a handler), -EINVAL (the signal cannot be
// chosen) or -EPERM (a thread cannot read its own memory).
void CpuTimers_open(struct CpuTimers *timers, int signal);
// Returns true if the program has installed another handler for our signal.
bool CpuTimers_lost_signal(const struct CpuTimers *timers);
// Waits up to a second for handlers that still run. The caller has freed all
// timers.
void CpuTimers_close(struct CpuTimers *timers);
// Forgets all timers in a forked child, which has inherited no timer.
void CpuTimers_abandon(struct CpuTimers *timers);

// Makes a timer for the thread `tid`. The timer stands still at first. Returns
// NULL if the kernel refuses, as when RLIMIT_SIGPENDING is reached, and counts
// this in `refused`.
struct CpuTimer *CpuTimer_new(struct CpuTimers *timers, uintptr_t state,
                              pid_t tid);
// Makes a timer for the calling thread, which has just started. The first
// sample comes at one of the kernel's ticks within the first interval, which
// `random` chooses, and weighs a whole interval. So the shares of threads that
// end before their first interval are right, too. CpuTimers_take_begun returns
// the timer. Returns false if the kernel refuses or memory is out. Any thread
// may call this function.
bool CpuTimer_begin(struct CpuTimers *timers, uintptr_t state,
                    uint64_t interval_ns, uint32_t represents, uint64_t random);
// Returns a list, linked by `next`, of the timers that threads have made since
// the last call. The caller owns these timers.
struct CpuTimer *CpuTimers_take_begun(struct CpuTimers *timers);
// Takes a sample each `interval_ns` of CPU time from now on. 0 stops the timer.
void CpuTimer_set(struct CpuTimer *timer, uint64_t interval_ns);
// Called when the calling thread has changed its signal mask: mutes the
// thread's timer or ends the mute. If the thread has blocked the signal, none
// of our signals is pending afterwards. Any thread may call this function, with
// a timer or without.
void CpuTimer_note_mask(void);
// Does the handler's work: takes a sample of the calling thread, which has used
// `now_ns` of CPU time and was interrupted at `counter`. This function is
// async-signal-safe.
void CpuTimer_sample(struct CpuTimer *timer, uint64_t now_ns,
                     uintptr_t counter);
// Returns the next sample, or false. `frames` has room for WALK_DEPTH frames.
bool CpuTimer_pop(struct CpuTimer *timer, struct SampleHead *head,
                  struct WalkFrame *frames);
// Says that the thread's CPU time up to `cpu_ns` needs no sample.
void CpuTimer_account(struct CpuTimer *timer, uint64_t cpu_ns);
// Returns the thread's CPU clock at the newest sample, or 0 if there is no
// sample.
uint64_t CpuTimer_sampled_ns(const struct CpuTimer *timer);
// Returns the thread's CPU clock up to which its time is accounted for or
// sampled.
uint64_t CpuTimer_covered_ns(const struct CpuTimer *timer);
// Frees the timer, which may be NULL. The samples in the timer's ring are lost.
// The memory is freed when the timer's handler does not run.
void CpuTimer_free(struct CpuTimer *timer);

#endif
