// SPDX-License-Identifier: MIT
// Holds what is known of the program's event loops. A step is a stretch in
// which a loop's thread runs the program's code: one callback, or one part of a
// task up to its next await. A stall is a step that takes longer than a limit.
//
// The hooks of a loop's thread write a struct EventLoop while they hold the
// GIL. The sampler's thread reads the struct, and observes steps that take long
// (stall_watch.h). The thread that builds snapshots reads the sums.
#ifndef OCULAR_TRACER_SAMPLE_EVENT_LOOPS_H
#define OCULAR_TRACER_SAMPLE_EVENT_LOOPS_H

#include "tracer/base/counter.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define EVENT_LOOPS 64 // threads with a loop; further threads are not observed
#define STALLS 64      // stalls in the log; a newer stall replaces the oldest
#define STALL_PLACES 4 // places that are kept of one step

// A place in the program, as an observation of a stack has found it.
struct StallPlace {
    uint32_t function; // id of the innermost known function
    uint32_t line;     // 0 if unknown
    bool torn;         // outer functions may be missing in `stack`
    uint64_t ticks;    // time for which observations have found this place
    char name[128];    // "" if no function is known
    char file[256];
    char stack[1024]; // names of all known functions, the outermost first
};

// The places in which observations have found one step.
struct ObservedStep {
    uint64_t step; // EventLoop.steps of this step
    uint64_t last; // ticks of the newest observation
    unsigned count;
    struct StallPlace places[STALL_PLACES];
};

// Sums of a window whose older parts decay.
struct LoopWindow {
    double at_s; // time at which the window was last updated
    uint64_t steps, timers, late_ns, switches;
    double s, step_sum, timer_sum, late_sum;
};

// The loop of one thread.
struct EventLoop {
    // Ticks at which the running step began; 0 if no step runs.
    _Atomic uint64_t began;
    counter_t steps;   // steps that have begun
    counter_t timers;  // callbacks that were due at a time and have run
    counter_t late_ns; // sum of the times between due and run
    _Atomic uintptr_t state;
    _Atomic uintptr_t code; // address of the running step's code object
    // The newest chunk of the data stack on which the running step began. Each
    // greenlet has chunks of its own.
    _Atomic uintptr_t chunk;
    // The next fields belong to the thread's hooks.
    uint32_t depth;    // recursion depth of the running step
    uintptr_t handle;  // asyncio's handle of the running step, or 0
    const void *owner; // the thread's record
    _Atomic bool used;
    pid_t tid;
    // Guarded by EventLoops.mutex; NULL before an observation.
    struct ObservedStep *observed;
    struct LoopWindow window; // of the thread that builds snapshots
};

struct Stall {
    uint64_t began, ended; // ticks
    double at_s;           // CLOCK_MONOTONIC at which the step began
    pid_t tid;
    char thread[64];
    char task[64]; // "" if unknown
    struct StallPlace place;
};

struct EventLoops {
    uint64_t limit; // ticks; a step of this length or longer is a stall
    double hz;      // ticks a second
    // Number of times that steps were switched off or on. Odd: steps are off,
    // because there were too many, and no rate is known.
    counter_t switches;
    // True if the next step must call `wake`.
    _Atomic bool asleep;
    void (*wake)(void *sampler); // NULL if nobody observes steps
    void *sampler;
    counter_t hooks;   // calls of the hooks at steps since the session began
    _Atomic bool full; // true if a thread has got no loop
    _Atomic unsigned count; // loops[0..count) may be used
    struct EventLoop loops[EVENT_LOOPS];
    pthread_mutex_t mutex; // guards the next fields and all `observed`
    struct Stall *stalls;  // NULL before the first stall
    counter_t stall_count; // stalls since the session began
    counter_t taken;       // loops that have begun since the session began
};

struct LoopRates {
    double steps_per_s; // NaN if unknown
    double lag_s;       // mean; NaN if no timer has run
};

void EventLoops_init(struct EventLoops *loops);
// Forgets all loops and stalls. No hook runs during the call.
void EventLoops_reset(struct EventLoops *loops, double limit_s, double hz);
void EventLoops_after_fork(struct EventLoops *loops); // in the child
// Returns the loop of the calling thread, or NULL if there are too many. The
// caller holds the GIL. `owner` is the thread's record.
struct EventLoop *EventLoops_take(struct EventLoops *loops, const void *owner,
                                  pid_t tid);
// The thread of this record has ended.
void EventLoops_leave(struct EventLoops *loops, const void *owner);
// Returns the number of steps that have begun in all loops.
uint64_t EventLoops_steps(const struct EventLoops *loops);
// Sets who observes steps. `wake` is called at the first step after `asleep`
// was set. NULL: nobody observes steps.
void EventLoops_watch(struct EventLoops *loops, void (*wake)(void *sampler),
                      void *sampler);

// Begins a step, on the loop's thread. Steps within a step do not count.
static inline void EventLoops_begin(struct EventLoops *loops,
                                    struct EventLoop *loop, uint64_t ticks,
                                    uint32_t depth, uintptr_t code)
{
    loop->depth = depth;
    atomic_store_explicit(&loop->code, code, memory_order_relaxed);
    Counter_add(&loop->steps, 1);
    // This store pairs with the acquire of the sampler's thread.
    atomic_store_explicit(&loop->began, ticks, memory_order_release);
    // If the sampler's thread falls asleep at this moment, the next step wakes
    // this thread.
    if (__builtin_expect(
            atomic_load_explicit(&loops->asleep, memory_order_relaxed), 0) &&
        atomic_exchange(&loops->asleep, false) && loops->wake)
        loops->wake(loops->sampler);
}

static inline uint64_t EventLoop_began(const struct EventLoop *loop)
{
    return atomic_load_explicit(&loop->began, memory_order_acquire);
}

// Ends the step. Returns its length in ticks.
static inline uint64_t EventLoop_end(struct EventLoop *loop, uint64_t ticks)
{
    uint64_t began = EventLoop_began(loop);

    atomic_store_explicit(&loop->began, 0, memory_order_relaxed);
    return ticks > began ? ticks - began : 0;
}

// Adds a callback that ran `late_ns` after it was due.
static inline void EventLoop_late(struct EventLoop *loop, uint64_t late_ns)
{
    Counter_add(&loop->timers, 1);
    Counter_add(&loop->late_ns, late_ns);
}

// Adds an observation of the step whose number is `step`.
void EventLoops_observe(struct EventLoops *loops, struct EventLoop *loop,
                        uint64_t step, uint64_t ticks,
                        const struct StallPlace *place);
// Adds the loop's newest step, which has ended, to the log. The place that the
// observations have found most is added to `stall`. Without memory the stall is
// only counted.
void EventLoops_stall(struct EventLoops *loops, const struct EventLoop *loop,
                      const struct Stall *stall);
// Returns the rates of about the last ten seconds. Only the thread that builds
// snapshots calls this function.
struct LoopRates EventLoop_rates(const struct EventLoops *loops,
                                 struct EventLoop *loop, double now_s);
// Switches steps off or on. The running steps are forgotten. The caller holds
// the GIL.
void EventLoops_switch(struct EventLoops *loops);
static inline bool EventLoops_are_off(const struct EventLoops *loops)
{
    return Counter_get(&loops->switches) % 2;
}
size_t EventLoops_bytes(const struct EventLoops *loops);

#endif
