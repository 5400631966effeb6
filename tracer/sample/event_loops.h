// SPDX-License-Identifier: MIT
// struct EventLoops has the data about the program's event loops, for example
// asyncio's. A step is a time in which a loop's thread runs the program's code.
// A step is one callback, or one part of a task up to its next await. A stall
// is a step that takes longer than a limit.
//
// The hooks of a loop's thread write a struct EventLoop while they hold the
// GIL. The sampler's thread reads the struct EventLoop, and observes steps that
// take long (stall_watch.h). The thread that builds snapshots reads the loops'
// sums.
#pragma once

#include "tracer/base/counter.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Largest number of threads whose event loop is observed.
#define EVENT_LOOPS 64
// Largest number of stalls in the log of stalls. If the log is full, a new
// stall replaces the oldest.
#define STALLS 64
// For each step, this number of places in the code is kept.
#define STALL_PLACES 4

// A place in the program at which an observation found an event loop's thread.
struct StallPlace {
    uint32_t function; // Id of the innermost traced function.
    uint32_t line;     // Line in the source file, or 0 if unknown.
    bool torn;         // True if `stack` may lack some outer functions.
    // Ticks that the thread was at this place, according to observations.
    uint64_t ticks;
    // Name of the function, or "" if no traced function was found.
    char name[128];
    char file[256];
    // Names of all traced functions on the stack, the outermost first.
    char stack[1024];
};

// The places at which observations have found the thread during one step.
struct ObservedStep {
    uint64_t step; // Value of EventLoop.steps during the observed step.
    uint64_t last; // Ticks at the newest observation of the step.
    unsigned count;
    struct StallPlace places[STALL_PLACES];
};

// Sums over a window of time, in which older steps weigh less.
struct LoopWindow {
    // CLOCK_MONOTONIC in seconds at which these sums were last updated.
    double at_s;
    uint64_t steps, timers, late_ns, switches;
    double s, step_sum, timer_sum, late_sum;
};

// The event loop of one thread.
struct EventLoop {
    // Ticks at which the running step began, or 0 if no step runs.
    _Atomic uint64_t began;
    counter_t steps;  // Number of steps that have begun in this loop.
    counter_t timers; // Number of timers' callbacks that have run.
    // Sum of the ns that timers' callbacks ran after they were due.
    counter_t late_ns;
    _Atomic uintptr_t state;
    _Atomic uintptr_t code; // Address of the running step's code object.
    // The newest chunk of CPython's data stack when the running step began.
    // Each greenlet has its own chunks.
    _Atomic uintptr_t chunk;
    // Only the hooks of the loop's thread use `depth`, `handle` and `owner`.
    uint32_t depth;   // CPython's recursion depth in the running step.
    uintptr_t handle; // Address of asyncio's handle for the running step, or 0.
    const void *owner; // The record of the loop's thread.
    _Atomic bool used;
    pid_t tid;
    // The mutex EventLoops.mutex guards `observed`, which is NULL before the
    // first observation.
    struct ObservedStep *observed;
    // Only the thread that builds snapshots uses `window`.
    struct LoopWindow window;
    // `steps`, `timers` and `late_ns` when the loop's thread took this struct.
    // `first_steps`, `first_timers` and `first_late_ns` are not 0 if an earlier
    // thread has used the struct.
    uint64_t first_steps, first_timers, first_late_ns;
};

// A step that took long, or a long time in which a thread without an event loop
// kept the GIL in a call of C.
struct Stall {
    uint64_t began, ended; // Ticks at which the stall began and ended.
    double at_s; // CLOCK_MONOTONIC in seconds at which the stall began.
    pid_t tid;
    bool has_gil; // True if the thread has no event loop.
    // Name of the thread, or "" if `has_gil` is true.
    char thread[64];
    char task[64]; // Name of asyncio's task, or "" if unknown.
    struct StallPlace place;
};

struct EventLoops {
    uint64_t limit; // Ticks after which a step is a stall.
    double hz;      // Ticks per second.
    // Number of times that the observation of steps was switched off or on. If
    // `switches` is odd, steps are not observed, because there were too many.
    // Rates are unknown while steps are not observed.
    counter_t switches;
    // True if the next step of any loop must call `wake`.
    _Atomic bool asleep;
    // `wake` is NULL if the sampler does not observe steps.
    void (*wake)(void *sampler);
    void *sampler;
    // Number of hook calls for steps since the session began.
    counter_t hooks;
    _Atomic bool full;      // True if a thread found no free EventLoop.
    _Atomic unsigned count; // Only loops[0] to loops[count - 1] may be in use.
    struct EventLoop loops[EVENT_LOOPS];
    // Guards the fields of EventLoops that follow it, and EventLoop.observed of
    // all loops.
    pthread_mutex_t mutex;
    struct Stall *stalls;  // The log of stalls, or NULL before the first stall.
    counter_t stall_count; // Number of stalls since the session began.
    // Number of event loops that have begun since the session began.
    counter_t taken;
};

struct LoopRates {
    double steps_per_s; // Steps per second, or NaN if unknown.
    // Mean number of seconds by which timers' callbacks ran late, or NaN if no
    // timer's callback has run.
    double lag_s;
};

void EventLoops_init(struct EventLoops *loops);
// Forgets all event loops and stalls. No hook may run during the call of
// EventLoops_reset.
void EventLoops_reset(struct EventLoops *loops, double limit_s, double hz);
// EventLoops_after_fork must be called in a forked child.
void EventLoops_after_fork(struct EventLoops *loops);
// Returns the event loop of the calling thread, or NULL if there are too many.
// The caller holds the GIL. `owner` is the thread's record, and `tid` its id.
struct EventLoop *EventLoops_take(struct EventLoops *loops, const void *owner,
                                  pid_t tid);
// Makes the struct EventLoop of a thread that has ended free for another
// thread. `owner` is the record of this thread.
void EventLoops_leave(struct EventLoops *loops, const void *owner);
// Returns the number of steps that have begun in all loops.
uint64_t EventLoops_steps(const struct EventLoops *loops);
// Sets the function that wakes the sampler at the first step after `asleep` was
// set. If `wake` is NULL, steps are not observed.
void EventLoops_watch(struct EventLoops *loops, void (*wake)(void *sampler),
                      void *sampler);

// Begins a step on the loop's thread. A step within another step does not
// count.
static inline void EventLoops_begin(struct EventLoops *loops,
                                    struct EventLoop *loop, uint64_t ticks,
                                    uint32_t depth, uintptr_t code)
{
    loop->depth = depth;
    atomic_store_explicit(&loop->code, code, memory_order_relaxed);
    Counter_add(&loop->steps, 1);
    // This store pairs with the acquire load of the sampler's thread.
    atomic_store_explicit(&loop->began, ticks, memory_order_release);
    // If this load misses that the sampler's thread is falling asleep, the next
    // step wakes the sampler's thread.
    if (__builtin_expect(
            atomic_load_explicit(&loops->asleep, memory_order_relaxed), 0) &&
        atomic_exchange(&loops->asleep, false) && loops->wake)
        loops->wake(loops->sampler);
}

static inline uint64_t EventLoop_began(const struct EventLoop *loop)
{
    return atomic_load_explicit(&loop->began, memory_order_acquire);
}

// Ends the event loop's running step. Returns the length of the step in ticks.
static inline uint64_t EventLoop_end(struct EventLoop *loop, uint64_t ticks)
{
    uint64_t began = EventLoop_began(loop);

    atomic_store_explicit(&loop->began, 0, memory_order_relaxed);
    // A thread that sees a value of the next step also sees that this step has
    // ended. The fence pairs with the fence in observe (stall_watch.c).
    atomic_thread_fence(memory_order_release);
    return ticks > began ? ticks - began : 0;
}

// Counts a timer's callback that ran `late_ns` after it was due.
static inline void EventLoop_late(struct EventLoop *loop, uint64_t late_ns)
{
    Counter_add(&loop->timers, 1);
    Counter_add(&loop->late_ns, late_ns);
}

// Adds an observation of a step of the event loop. `step` is the number of this
// step.
void EventLoops_observe(struct EventLoops *loops, struct EventLoop *loop,
                        uint64_t step, uint64_t ticks,
                        const struct StallPlace *place);
// Adds the loop's newest step, which has ended, to the log of stalls. The place
// of the stall becomes the one at which the step was observed for most of the
// time. If there is no memory for the log, the stall is not counted.
void EventLoops_stall(struct EventLoops *loops, const struct EventLoop *loop,
                      const struct Stall *stall);
// Adds a stall that the sampler's thread has found, unless the thread has an
// event loop. Returns the stall's number, or 0. If `number` is the number of an
// earlier call, this stall goes on, and only its end changes.
uint64_t EventLoops_hold(struct EventLoops *loops, uint64_t number,
                         const struct Stall *stall);
// Returns the rates of an event loop over about the last ten seconds. Only the
// thread that builds snapshots calls EventLoop_rates.
struct LoopRates EventLoop_rates(const struct EventLoops *loops,
                                 struct EventLoop *loop, double now_s);
// Switches the observation of steps off, or on if it is off, and forgets the
// running steps. The caller holds the GIL.
void EventLoops_switch(struct EventLoops *loops);
static inline bool EventLoops_are_off(const struct EventLoops *loops)
{
    return Counter_get(&loops->switches) % 2;
}
// Returns true if the thread has an event loop in which no step runs. Returns
// false if steps are not observed.
bool EventLoops_is_idle(struct EventLoops *loops, pid_t tid);
