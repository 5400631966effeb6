// SPDX-License-Identifier: MIT
// Samples of a thread in its own CPU time: a timer on the thread's CPU clock
// sends the thread a signal, and the handler reads the thread's own frames into
// a ring (timer_create(2), SIGEV_THREAD_ID). A thread that sleeps costs nothing
// and is never interrupted: since Linux 5.9 (CONFIG_POSIX_CPU_TIMERS_TASK_WORK)
// the signal is raised on the way back to user space.
//
// The sampler's thread sets and frees the timers and reads the rings. It makes
// them for the threads of its list; a thread that begins meanwhile makes its
// own, as it may have ended before. The handler runs on the sampled thread; it
// calls only clock_gettime, rt_sigprocmask and the calls of main_signals.h. It
// allocates nothing, takes no lock, and uses no thread-local memory but errno,
// which it restores.
//
// The timer of a thread that has the signal blocked is muted: it stands still,
// until the thread or the sampler sees that it is blocked no more.
#ifndef OCULAR_TRACER_SAMPLE_CPU_TIMER_H
#define OCULAR_TRACER_SAMPLE_CPU_TIMER_H

#include "tracer/code/registry.h"
#include "tracer/sample/sample_ring.h"
#include "tracer/sample/timer_signal.h"

#include <signal.h>
#include <time.h>

// The data that all timers of one sampler share. Zeroed before CpuTimers_open.
struct CpuTimers {
    struct Registry *registry; // borrowed, as the next two
    const struct FrameLayout *layout;
    const struct Clock *clock;
    struct CpuTimer *closing; // freed, but their handlers may run still
    _Atomic int signal;       // 0: no timers, `error` says why
    int error;                // -errno
    uint64_t refused;         // times that a thread could have no timer
    uint64_t most;    // most ticks of a sample; beyond, others had the CPU
    uint64_t tick_ns; // the kernel looks at CPU clocks that often
    pid_t pid;        // and the id of the main thread
    struct CpuTimer *_Atomic begun; // by their threads, and not taken yet
};

struct CpuTimer {
    // The sampled thread's: its handler is the only writer of these four.
    _Atomic uint64_t sampled_ns; // its CPU clock at the newest sample in the
                                 // ring, or, if that is more, ...
    counter_t taken;             // samples that were tried
    counter_t handler_ticks;     // that they took
    struct WalkStart start;
    struct Walk walk;

    // ... up to where the sampler has accounted for it without one.
    _Atomic uint64_t accounted_ns;
    // PyThreadState, if FrameLayout.own_state knows of none; the sampler's
    // thread writes.
    _Atomic uintptr_t state;
    // The number of threads that this one represents: the factor of its
    // samples' weights. Set at the start; the sampler sets it to 1 when it
    // lists the thread.
    _Atomic uint32_t represents;
    uint64_t
        first_ns; // weight of the first sample; 0: the time since the start
    struct CpuTimers *timers;
    struct CpuTimer *next; // of those that are closing, or have begun
    timer_t timer;
    int signal;
    pid_t tid;
    uint32_t slot;
    uint64_t interval_ns; // of CPU time; 0: it stands still
    struct Mute mute;
    uint32_t seen_mute; // its word when `interval_ns` was set
    uint64_t seen_taken, seen_ticks, seen_lost; // for the sampler's sums
    struct SampleRing ring;
};

// Chooses a signal that nobody has a handler for, or takes `signal` if that is
// above 0, and installs the handler, which stays for good: a signal may come
// late. Never fails as a whole: where it cannot be, CpuTimer_new returns NULL
// from then on, and `error` is -EBUSY (each signal has a handler), -EINVAL (not
// a signal to choose) or -EPERM (a thread cannot read its own memory).
void CpuTimers_open(struct CpuTimers *timers, int signal);
// The handler is not ours any more: the program has installed another one.
bool CpuTimers_lost_signal(const struct CpuTimers *timers);
// All timers are freed. Waits for handlers that run still, up to a second.
void CpuTimers_close(struct CpuTimers *timers);
// In a forked child, which has inherited no timer: forgets them all.
void CpuTimers_abandon(struct CpuTimers *timers);

// For the thread of that id. It stands still. NULL: it cannot be had, as when
// RLIMIT_SIGPENDING is reached; counted in `refused`.
struct CpuTimer *CpuTimer_new(struct CpuTimers *timers, uintptr_t state,
                              pid_t tid);
// Makes a timer for the calling thread, which has just started. The first
// sample comes at one of the kernel's ticks within the first interval, which
// `random` chooses, and weighs a whole interval: so shares are right also of
// threads that end before their first interval. CpuTimers_take_begun returns
// it. false: the kernel refuses, or memory is out. Any thread.
bool CpuTimer_begin(struct CpuTimers *timers, uintptr_t state,
                    uint64_t interval_ns, uint32_t represents, uint64_t random);
// The timers that threads have made since the last call, a list by `next`; the
// caller owns them.
struct CpuTimer *CpuTimers_take_begun(struct CpuTimers *timers);
// From now on a sample is taken each `interval_ns` of CPU time; 0: none.
void CpuTimer_set(struct CpuTimer *timer, uint64_t interval_ns);
// The calling thread has changed its signal mask: mutes its timer, or ends
// that. If it has blocked the signal none of ours is pending after that. Any
// thread, with timers or without.
void CpuTimer_note_mask(void);
// The handler's work: a sample of the calling thread, which has used `now_ns`
// of CPU time and was interrupted at `counter`. Async-signal-safe.
void CpuTimer_sample(struct CpuTimer *timer, uint64_t now_ns,
                     uintptr_t counter);
// The next sample, or false. `frames` has room for WALK_DEPTH.
bool CpuTimer_pop(struct CpuTimer *timer, struct SampleHead *head,
                  struct WalkFrame *frames);
// The thread's CPU time up to there needs no sample any more.
void CpuTimer_account(struct CpuTimer *timer, uint64_t cpu_ns);
// The thread's CPU clock at the newest sample; 0: there was none.
uint64_t CpuTimer_sampled_ns(const struct CpuTimer *timer);
// Up to where it is accounted for, or sampled.
uint64_t CpuTimer_covered_ns(const struct CpuTimer *timer);
// Nothing for NULL. Its samples are lost; the memory goes once its handler is
// not running.
void CpuTimer_free(struct CpuTimer *timer);

#endif
