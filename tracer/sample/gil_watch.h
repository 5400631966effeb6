// SPDX-License-Identifier: MIT
// struct GilWatch adds up for how long each thread had the GIL, and for how
// long each thread waited for the GIL. For each function, GilWatch adds up for
// how long other threads waited while the function had the GIL. GilWatch also
// keeps the longest time for which a thread kept the GIL although another
// thread waited. Calls of C that keep the GIL for long go into the log of
// stalls.
//
// The time with the GIL comes from the samples of CPU time. The clocks of a
// thread show for how long it was off the CPU, and an observation finds the
// reason. Only the sampler's thread changes a struct GilWatch. Any thread may
// read its shares.
#pragma once

#include "tracer/sample/event_loops.h"
#include "tracer/sample/sampled_threads.h"

// Of the stack at the longest hold of the GIL, this number of frames is kept.
#define GIL_FRAMES 16
#define GIL_UNLISTED SIZE_MAX

// The longest time since tracing began for which a thread had the GIL without a
// break although another thread waited.
struct GilHold {
    // Length of the hold in seconds, or 0 if no such hold was seen.
    double s;
    size_t depth;
    // Frames of the thread's stack during the hold, the innermost first.
    struct PlaceInCode frames[GIL_FRAMES];
};

struct GilWatch {
    const struct Gil *gil; // NULL if the layout of CPython's GIL is not known.
    // struct GilWatch owns none of its pointers.
    struct Attribution *attribution;
    struct SampledThreads *threads;
    const struct Clock *clock;
    struct EventLoops *loops; // NULL without event loops.
    // True if the sampler's thread has its own table of descriptors.
    bool own_files;
    // Time with the GIL, time of waiting for the GIL, and time for which
    // threads were ready to run but had no CPU, added up over all threads.
    struct ShareValue held, waited, starved;
    // 1 if the kernel says what a thread waits for, otherwise 0.
    counter_t readable;
    // 1 if the kernel does not count for how long threads wait for a CPU.
    counter_t ready_unknown;
    struct GilHold longest; // The mutex SampledThreads.lock guards `longest`.

    // The fields from `holder` to `stack` describe the newest step of the
    // observer. `holder` is the PyThreadState that has the GIL, or 0 if no
    // thread has the GIL.
    uintptr_t holder;
    uint32_t switches;
    // Index of the GIL's holder in the table of sampled threads, or
    // GIL_UNLISTED if the holder is not in the table.
    size_t place;
    // Stack of the GIL's holder, read while the holder had the GIL, or NULL if
    // unknown.
    const struct SampledStack *stack;
    // Number of threads in this step that needed an answer, and number of
    // questions that may still be asked.
    size_t needy, left;
    // The expected value of `needy`, from the newest steps. `expected` falls
    // slowly after a step with many threads that needed an answer.
    double expected;
    // If a thread needs answers, the kernel is asked at one of `stride`
    // observations of it. The observation at which the kernel is asked is
    // chosen at random, so that no thread's turn depends on the turns of
    // others.
    uint32_t stride;
    uint32_t random; // State of the random generator.
    // ns for which threads waited for the GIL, and which are not yet credited
    // to a function. `waited_ns` decays as shares do.
    double waited_ns;
    // Value of ShareTime.age at which `waited_ns` was last updated.
    double waited_age;
};

// A point in time at which a thread had the GIL.
struct GilMoment {
    uint64_t ticks;
    uint32_t switches; // Gil_switches at the time `ticks`.
    const struct SampledStack *stack;
    unsigned proofs; // See GilThread.proofs.
};

// The numbers about the GIL that a snapshot shows. An unknown number is null
// (record.h).
struct GilFigures {
    // Fractions of one core's wall-clock time in the newest seconds (share.h).
    double held, waited, starved;
    double held_s, waited_s, longest_s; // Seconds since tracing began.
    size_t depth;
    // Stack of the longest hold of the GIL, innermost frame first.
    struct PlaceInCode frames[GIL_FRAMES];
};

// `gil` is NULL if the layout of CPython's GIL is not known.
void GilWatch_init(struct GilWatch *watch, const struct Gil *gil,
                   const struct Clock *clock);
// Begins a step of the observer, `since_ns` after the step before. Returns the
// index of the GIL's holder in the table of sampled threads, or GIL_UNLISTED.
// The caller observes the holder first, because the holder may soon release the
// GIL.
size_t GilWatch_begin(struct GilWatch *watch, uint64_t since_ns,
                      const struct ShareTime *now);
// GilWatch_observe is called when the thread with the index `place` was
// observed. The caller has read this thread's clocks and stack. `on_cpu` is
// true if the thread is running now. Stores in the thread's struct SampledStack
// what the thread waits for.
void GilWatch_observe(struct GilWatch *watch, size_t place, bool on_cpu,
                      const struct ShareTime *now);
// Returns how many ns of its waiting time the thread waited for a CPU.
// GilWatch_take_starved is called if the thread is running or has the GIL. A
// later observation finds the reason for the rest of its waiting time.
double GilWatch_take_starved(struct SampledThread *thread);
// Ends a step of the observer. Credits the function that had the GIL with the
// time for which other threads waited for the GIL.
void GilWatch_end(struct GilWatch *watch, const struct ShareTime *now);
// Credits the thread with `cpu_ns` of CPU time during which it had the GIL.
void GilWatch_hold(struct GilWatch *watch, struct GilThread *thread,
                   const struct ShareTime *now, double cpu_ns);
// GilWatch_note is called when the thread had the GIL at the time `moment`.
// `requested` is true if another thread had requested the GIL before `moment`.
void GilWatch_note(struct GilWatch *watch, struct SampledThread *thread,
                   const struct GilMoment *moment, bool requested);
// Any thread may call GilWatch_knows_waits and the functions after it.
// GilWatch_knows_ready returns true if it is also known for how long threads
// wait for a CPU.
bool GilWatch_knows_waits(const struct GilWatch *watch);
bool GilWatch_knows_ready(const struct GilWatch *watch);
void GilWatch_read(struct GilWatch *watch, const struct ShareTime *now,
                   struct GilFigures *figures);
