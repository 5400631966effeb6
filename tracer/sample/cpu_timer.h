// SPDX-License-Identifier: MIT
// Takes samples of a thread in the thread's own CPU time. A timer on the
// thread's CPU clock sends a signal to the thread, and the handler reads the
// thread's own frames into a ring (timer_create(2), SIGEV_THREAD_ID). Since
// Linux 5.9 (CONFIG_POSIX_CPU_TIMERS_TASK_WORK) the kernel sends the signal
// when the thread returns to user space. So a sleeping thread costs nothing and
// is never interrupted.
//
// The sampler's thread sets the timers, frees the timers and reads the rings.
// The sampler's thread makes timers for the threads of its list. A thread that
// starts after the list was made makes its own timer, because the thread may
// end before the next list is made. The handler runs on the sampled thread. The
// handler calls only clock_gettime, rt_sigprocmask and the calls of
// main_signals.h. The handler allocates nothing, takes no lock, and uses no
// thread-local memory except errno, which it restores.
//
// If a thread has blocked the signal, the thread's timer is muted. A muted
// timer does not run until the thread or the sampler sees that the signal is no
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
    // the signal's number; 0 if there are no timers, and `error` has the reason
    _Atomic int signal;
    int error;        // -errno, or 0
    uint64_t refused; // number of times that a thread could not get a timer
    // A sample is charged at most this many ticks. If a sample takes more
    // ticks, other programs had the CPU in the additional ticks.
    uint64_t most;
    uint64_t tick_ns; // ns between two checks of CPU clocks by the kernel
    pid_t pid;        // id of the process and of its main thread
    // timers that threads have made for themselves, not yet taken by the
    // sampler
    struct CpuTimer *_Atomic begun;
};

struct CpuTimer {
    // Only the handler on the sampled thread writes the next five fields.

    // The thread's CPU clock at the newest sample in the ring.
    _Atomic uint64_t sampled_ns;
    counter_t taken;         // number of samples that were tried
    counter_t handler_ticks; // ticks that these samples took
    struct WalkStart start;
    struct Walk walk;

    // A value of the thread's CPU clock. The sampler has accounted for the
    // thread's CPU time before this value without a sample. The thread's time
    // needs no further sample up to `sampled_ns` or `accounted_ns`, whichever
    // is later.
    _Atomic uint64_t accounted_ns;
    // The handler uses this PyThreadState if FrameLayout.own_state returns 0.
    // The sampler's thread writes this field.
    _Atomic uintptr_t state;
    // The number of threads that the timer's thread represents. The weights of
    // the thread's samples are multiplied by this number. When the sampler
    // lists the thread, the sampler sets the number to 1.
    _Atomic uint32_t represents;
    // Weight of the first sample; if 0, the weight is the time since the start.
    uint64_t first_ns;
    struct CpuTimers *timers;
    struct CpuTimer *next; // next timer in `closing` or `begun`
    timer_t timer;
    int signal;
    pid_t tid;
    uint32_t slot;
    // Nanoseconds of CPU time between two samples; 0 if the timer does not run.
    uint64_t interval_ns;
    struct Mute mute;
    uint32_t seen_mute; // value of `mute.word` when `interval_ns` was set
    // values of `taken`, `handler_ticks` and `ring.lost` when the sampler last
    // added them to its sums
    uint64_t seen_taken, seen_ticks, seen_lost;
    struct SampleRing ring;
};

// Installs the handler for `signal`, or for a signal without a handler if
// `signal` is 0. The handler is never removed, because a signal may be
// delivered late. If no handler can be installed, CpuTimer_new always returns
// NULL. `error` is then -EBUSY if each signal has a handler, or -EINVAL if the
// signal cannot be chosen. It is -EPERM if a thread cannot read its own memory.
void CpuTimers_open(struct CpuTimers *timers, int signal);
// Returns true if the program has installed another handler for our signal.
bool CpuTimers_lost_signal(const struct CpuTimers *timers);
// Waits up to a second for handlers that still run. The caller has freed all
// timers before.
void CpuTimers_close(struct CpuTimers *timers);
// Forgets all timers in a forked child, which has inherited no timer.
void CpuTimers_abandon(struct CpuTimers *timers);

// Makes a timer for the thread `tid`. The timer does not run at first. If the
// kernel refuses, for example because RLIMIT_SIGPENDING is reached, returns
// NULL and adds 1 to `refused`.
struct CpuTimer *CpuTimer_new(struct CpuTimers *timers, uintptr_t state,
                              pid_t tid);
// Makes a timer for the calling thread, which has just started. The first
// sample comes at a timer tick of the kernel within the first interval.
// `random` chooses the tick, and the sample weighs a whole interval. So the
// sums over many threads are right even if each thread ends within its first
// interval. CpuTimers_take_begun returns the timer. Returns false if the kernel
// refuses or memory is out. Any thread may call this function.
bool CpuTimer_begin(struct CpuTimers *timers, uintptr_t state,
                    uint64_t interval_ns, uint32_t represents, uint64_t random);
// Returns a list, linked by `next`, of the timers that threads have made since
// the last call. The caller owns these timers.
struct CpuTimer *CpuTimers_take_begun(struct CpuTimers *timers);
// Makes the timer take a sample after each `interval_ns` of CPU time. 0 stops
// the timer.
void CpuTimer_set(struct CpuTimer *timer, uint64_t interval_ns);
// A thread calls this function after it has changed its signal mask. The
// function mutes the thread's timer or ends the mute. If the thread has blocked
// the signal, the function also removes our pending signals from the thread.
// Threads without a timer may call this function, too.
void CpuTimer_note_mask(void);
// Does the work of the handler. Takes a sample of the calling thread, which has
// used `now_ns` of CPU time and was interrupted at the address `counter`. This
// function is async-signal-safe.
void CpuTimer_sample(struct CpuTimer *timer, uint64_t now_ns,
                     uintptr_t counter);
// Takes the next sample from the ring, stores it in *head and `frames`, and
// returns true. Returns false if the ring is empty. `frames` has room for
// WALK_DEPTH frames.
bool CpuTimer_pop(struct CpuTimer *timer, struct SampleHead *head,
                  struct WalkFrame *frames);
// Tells the timer that the thread's CPU time up to `cpu_ns` needs no sample.
void CpuTimer_account(struct CpuTimer *timer, uint64_t cpu_ns);
// Returns the value of the thread's CPU clock at the newest sample, or 0 if
// there is no sample.
uint64_t CpuTimer_sampled_ns(const struct CpuTimer *timer);
// Returns the value of the thread's CPU clock up to which all CPU time is
// accounted for or sampled.
uint64_t CpuTimer_covered_ns(const struct CpuTimer *timer);
// Frees the timer, which may be NULL. The samples in the timer's ring are lost.
// The memory is freed as soon as no handler uses the timer.
void CpuTimer_free(struct CpuTimer *timer);

#endif
