// SPDX-License-Identifier: MIT
// struct GilWatch adds up for how long each thread had the GIL, and for how
// long each thread waited for the GIL. For each function, GilWatch adds up for
// how long other threads waited while the function had the GIL. GilWatch also
// keeps the longest time for which a thread kept the GIL although another
// thread waited.
//
// The time with the GIL comes from the samples of CPU time. A thread's clocks
// show for how long the thread was off the CPU, and an observation finds the
// reason. Only the sampler's thread changes a struct GilWatch. Any thread may
// read its shares.
#pragma once

#include "tracer/sample/event_loops.h"
#include "tracer/sample/sampled_threads.h"

// Number of frames that are kept of the stack at the longest hold of the GIL.
#define GIL_FRAMES 16
#define GIL_UNLISTED SIZE_MAX

// The longest time since tracing began for which a thread had the GIL without a
// break although another thread waited.
struct GilHold {
    // Length of the longest hold of the GIL in seconds; 0 if no such hold was
    // seen.
    double s;
    size_t depth;
    // Frames of the stack during this hold of the GIL, the innermost first.
    struct PlaceInCode frames[GIL_FRAMES];
};

struct GilWatch {
    const struct Gil *gil; // NULL if the layout of CPython's GIL is not known.
    // All pointers in struct GilWatch are borrowed.
    struct Attribution *attribution;
    struct SampledThreads *threads;
    const struct Clock *clock;
    struct EventLoops *loops; // NULL if no loop is observed.
    // True if the sampler's thread has its own table of descriptors.
    bool own_files;
    // Time with the GIL, time of waiting for the GIL, and time for which
    // threads were ready to run but had no CPU, added up over all threads.
    struct ShareValue held, waited, starved;
    // 1 if the kernel tells what a thread waits for, otherwise 0.
    counter_t readable;
    // 1 if the kernel does not count for how long threads wait for a CPU.
    counter_t ready_unknown;
    struct GilHold longest; // The mutex SampledThreads.lock guards `longest`.

    // The fields from `holder` to `stack` describe the newest step of the
    // observer.
    // PyThreadState that has the GIL; 0 if no thread has the GIL.
    uintptr_t holder;
    uint32_t switches;
    // Index of the GIL's holder in the table of sampled threads, or
    // GIL_UNLISTED if the holder is not in the table.
    size_t place;
    // Stack of the GIL's holder, read while the holder had the GIL; NULL if
    // unknown.
    const struct SampledStack *stack;
    // Number of threads that needed an answer, and number of questions that may
    // still be asked.
    size_t needy, left;
    // The number `needy` of the newest steps. If one step had much more than
    // the steps after it, `expected` falls slowly.
    double expected;
    // The kernel is asked about one of so many observations of a thread that
    // needs answers. The observation is drawn at random, so that no thread's
    // turn depends on the turns of others.
    uint32_t stride;
    uint32_t random; // State of the random generator that draws.
    // ns for which threads waited for the GIL, and which no function has got
    // yet. `waited_ns` decays as shares do.
    double waited_ns;
    // Value of ShareTime.age at which `waited_ns` was last updated.
    double waited_age;
};

// A moment in which a thread had the GIL.
struct GilMoment {
    uint64_t ticks;
    uint32_t switches; // Value of Gil_switches at the moment `ticks`.
    const struct SampledStack *stack;
};

// The numbers about the GIL that a snapshot shows. A number that is not known
// is null (record.h).
struct GilFigures {
    // Parts of one core's wall time in the newest seconds (share.h).
    double held, waited, starved;
    double held_s, waited_s, longest_s; // Seconds since tracing began.
    size_t depth;
    // Stack of the longest hold of the GIL, innermost frame first.
    struct PlaceInCode frames[GIL_FRAMES];
};

// `gil` may be NULL if the layout of CPython's GIL is not known.
void GilWatch_init(struct GilWatch *watch, const struct Gil *gil,
                   const struct Clock *clock);
// Begins a step of the observer, `since_ns` after the step before. Returns the
// index of the GIL's holder in the table of sampled threads, or GIL_UNLISTED.
// The caller observes the holder first, because the holder may soon release the
// GIL.
size_t GilWatch_begin(struct GilWatch *watch, uint64_t since_ns,
                      const struct ShareTime *now);
// Notes an observation of the thread whose index in the table is `place`. The
// caller has read the thread's clocks and stack. `on_cpu` is true if the thread
// is running now. Stores in the thread's stack what the thread waits for.
void GilWatch_observe(struct GilWatch *watch, size_t place, bool on_cpu,
                      const struct ShareTime *now);
// Returns the ns of the thread's waiting time for which it waited for a CPU.
// Called if the thread is running or has the GIL. A later observation finds the
// reason for the rest of its waiting time.
double GilWatch_take_starved(struct SampledThread *thread);
// Ends a step of the observer. Credits the function that had the GIL with the
// time for which other threads waited for the GIL.
void GilWatch_end(struct GilWatch *watch, const struct ShareTime *now);
// Credits the thread with `cpu_ns` of CPU time during which it had the GIL.
void GilWatch_hold(struct GilWatch *watch, struct GilThread *thread,
                   const struct ShareTime *now, double cpu_ns);
// Notes that the thread had the GIL at `moment`. `requested` is true if another
// thread had requested the GIL before `moment`.
void GilWatch_note(struct GilWatch *watch, struct SampledThread *thread,
                   const struct GilMoment *moment, bool requested);
// Any thread may call the functions below. GilWatch_knows_ready returns true if
// the times for which threads wait for a CPU are known, too.
bool GilWatch_knows_waits(const struct GilWatch *watch);
bool GilWatch_knows_ready(const struct GilWatch *watch);
void GilWatch_read(struct GilWatch *watch, const struct ShareTime *now,
                   struct GilFigures *figures);
