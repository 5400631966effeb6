// SPDX-License-Identifier: MIT
// Adds up for each thread the time in which the thread had the GIL, and the
// time in which it waited for the GIL. Adds up for each function the time in
// which other threads waited while the function had the GIL. Keeps the longest
// time for which a thread did not pass the GIL on although another thread
// waited.
//
// The time with the GIL comes from the samples of CPU time. A thread's clocks
// say how long the thread was off the CPU. An observation finds the reason why
// the thread was off the CPU. Only the sampler's thread calls the functions
// that change the struct. Any thread may read the shares.
#ifndef OCULAR_TRACER_SAMPLE_GIL_WATCH_H
#define OCULAR_TRACER_SAMPLE_GIL_WATCH_H

#include "tracer/sample/sampled_threads.h"

#define GIL_FRAMES 16 // largest number of frames of the longest hold
#define GIL_UNLISTED SIZE_MAX

// The longest hold since tracing began.
struct GilHold {
    double s; // 0: no hold was seen in which another thread waited
    size_t depth;
    struct PlaceInCode frames[GIL_FRAMES]; // innermost first
};

struct GilWatch {
    const struct Gil *gil;           // NULL if nothing is known
    struct Attribution *attribution; // all pointers are borrowed
    struct SampledThreads *threads;
    const struct Clock *clock;
    struct ShareValue held, waited; // sums of all threads
    counter_t readable; // 1 if the kernel tells what a thread does, otherwise 0
    struct GilHold longest; // guarded by SampledThreads.lock

    // The next fields are about the newest step of the observer.
    uintptr_t holder; // PyThreadState; 0 if no thread had the GIL
    uint32_t switches;
    size_t place; // of the holder in the table; GIL_UNLISTED if it has none
    // The holder's stack while it had the GIL; NULL if unknown.
    const struct SampledStack *stack;
    // The kernel is asked only about each thread whose place in the table,
    // modulo `stride`, is `turn`.
    size_t stride, turn;
    // ns of waiting that no function got yet. They fade as shares do.
    double waited_ns;
    double waited_age; // ShareTime.age of `waited_ns`
};

// A moment in which a thread had the GIL.
struct GilMoment {
    uint64_t ticks;
    uint32_t switches; // Gil_switches
    const struct SampledStack *stack;
};

// The numbers about the GIL. A number that is not known is null (record.h).
struct GilFigures {
    double held, waited;                // shares of one core in the window
    double held_s, waited_s, longest_s; // since tracing began
    size_t depth;
    struct PlaceInCode frames[GIL_FRAMES]; // of the longest hold
};

// `gil` may be NULL.
void GilWatch_init(struct GilWatch *watch, const struct Gil *gil,
                   const struct Clock *clock);
// Begins a step of the observer, `since_ns` after the last step. Returns the
// place of the holder in the table, or GIL_UNLISTED. The caller observes the
// holder first, because the holder may soon pass the GIL on.
size_t GilWatch_begin(struct GilWatch *watch, uint64_t since_ns,
                      const struct ShareTime *now);
// Notes the observation of the thread at `place`, whose clocks were read and
// whose stack was walked. `on_cpu` is true if the thread runs now.
void GilWatch_observe(struct GilWatch *watch, size_t place, bool on_cpu,
                      const struct ShareTime *now);
// Ends a step. The function that had the GIL gets the time in which others
// waited.
void GilWatch_end(struct GilWatch *watch, const struct ShareTime *now);
// Credits `cpu_ns` in which the thread had the GIL.
void GilWatch_hold(struct GilWatch *watch, struct GilThread *thread,
                   const struct ShareTime *now, double cpu_ns);
// Notes a moment in which the thread had the GIL. `requested` is true if
// another thread had requested the GIL.
void GilWatch_note(struct GilWatch *watch, struct SampledThread *thread,
                   const struct GilMoment *moment, bool requested);
// Any thread may call the next two functions.
bool GilWatch_knows_waits(const struct GilWatch *watch);
void GilWatch_read(struct GilWatch *watch, const struct ShareTime *now,
                   struct GilFigures *figures);

#endif
