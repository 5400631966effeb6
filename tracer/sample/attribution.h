// SPDX-License-Identifier: MIT
// struct Attribution credits the time of a sampled stack to functions. The
// innermost function that the registry knows gets the CPU time and the waiting
// time as its own time. Each function on the stack gets the CPU time and the
// waiting time as `cumulative` time. The `cumulative` time of a function is
// also added up for each of its callers. Only the sampler's thread calls the
// functions of attribution.h.
#pragma once

#include "tracer/base/waker.h"
#include "tracer/code/registry.h"
#include "tracer/sample/breakdown.h"
#include "tracer/sample/call_edges.h"
#include "tracer/sample/flame.h"
#include "tracer/sample/native.h"
#include "tracer/sample/task_shares.h"
#include "tracer/sample/wait_choice.h"
#include "tracer/sample/walk.h"

#include <sys/types.h>

// The waiting time of one observation of a thread.
struct SampledWait {
    const uint32_t *path; // Ids of the functions on the stack, outermost first.
    size_t depth;
    // Kind of the wait in the flame graph. WAITS_IDLE also stands for the waits
    // of idle threads.
    enum WaitKind drawn;
    // ns of waiting of the kind `drawn`, and ns of waiting for a CPU.
    double ns, starved_ns;
    // The reason of the wait. A function's waits are divided in proportion to
    // the weights of this reason and of waiting for a CPU (SampledStack).
    enum WaitKind kind;
    double kind_ns, starved_weight_ns;
};

// struct SampleSink gets each sample of a running thread, with the functions on
// the stack and the time. struct SampleSink also gets the waits that struct
// WaitChoice chooses. The path in a sample or in a wait is valid only during
// the call. The sampler's thread calls `take` and `wait`.
struct SampleSink {
    void *context;
    void (*take)(void *context, const struct FlameSample *sample, pid_t tid,
                 uint64_t ticks); // May be NULL.
    // `wait` is NULL if only samples are wanted.
    void (*wait)(void *context, const struct SampledWait *wait, pid_t tid);
};

#define LONG_CALLS 64u // Number of threads that can wait for a tag.

// Two samples in the same hot function can be from one call or from thousands.
// The governor therefore tags calls: it changes the byte `f_trace_lines` of the
// call's frame object from 1 to a larger number. CPython only compares the byte
// with 0, and frees the object with the frame. A sample that finds the tag was
// taken in a call that had begun before the tag was set.
struct LongCalls {
    // Ids of the threads in which a tag is wanted, or 0. The sampler fills a
    // thread's slot, and the governor empties it while it holds the GIL.
    _Atomic pid_t wanted[LONG_CALLS];
    counter_t tagged_ticks; // Ticks at which slots were last emptied.
    struct Waker *governor; // Not owned.
};

// The call from which the newest samples of a thread may all be.
struct LongCall {
    uint32_t id;     // The function, or 0.
    uint8_t tag;     // WalkTag.value in the newest sample.
    bool asked;      // True if a tag has been wanted since `since_ns`.
    double since_ns; // ShareTime.ns at which the call was first seen.
    double tag_ns;   // ShareTime.ns at which its tag was first seen.
    // CPU time of the samples, which still counts as that of many calls.
    struct ShareValue held;
    double tagged_ns; // ns of CPU time of the tagged samples.
    double ran_ns;    // ns of CPU time since a tag was last wanted.
    uint32_t turn;    // Turn in which the thread was last added to ShareStill.
};

struct SampledStack {
    pid_t tid; // Id of the sampled thread.
    // No code object on the stack has an id above `newest_id`.
    uint32_t newest_id;
    // Ticks. No code object that was freed before this time is on the stack.
    uint64_t ticks;
    bool cut;      // True if `frames` lacks some of the outer frames.
    bool in_c;     // True if the innermost frame has called a C function.
    bool entering; // True if CPython is pushing or popping the innermost frame.
    // True if a thread that is off the CPU waits for a CPU or for the GIL.
    bool waits_to_run;
    bool in_garbage; // True if the innermost frame is the garbage collector's.
    // The reason why the thread is off the CPU, or WAIT_UNKNOWN.
    enum WaitKind wait_kind;
    // True if the thread has not run for so long that it counts as idle.
    bool idle;
    // ns of waiting for the reason `wait_kind`, and ns for which the thread was
    // ready to run but had no CPU. `kind_ns` and `starved_ns` also include
    // waits whose reason the kernel has not answered. `kind_ns` and
    // `starved_ns` are 0 if the kernel gave no answer for this observation.
    double kind_ns, starved_ns;
    // The fraction of the waiting time since the last observation for which the
    // thread was ready to run but had no CPU.
    double starved;
    // ns since the thread last ran, or 0 if the thread's calls do not count as
    // calls that stay (ShareStill). CLOCK_MONOTONIC up to which they count.
    uint64_t still_ns, still_until_ns;
    // ns for which the thread has not run, or 0 if it has run since its last
    // observation.
    double lasted_ns;
    // A wait of a thread that has run since its last observation may be several
    // waits. If it would be overlong as a single one, it is held until the next
    // observation: its function, or 0, and its ns.
    uint32_t held_id;
    double held_ns;
    unsigned depth;
    // The frames of the stack, the innermost first.
    struct WalkFrame frames[WALK_DEPTH];
    // The roots of the stack, and the number of frames that the walk has found.
    struct WalkRoot roots[WALK_ROOTS];
    unsigned walked;
    struct WalkTag tag;
    struct LongCall *call; // Not owned.
};

// A function on a stack, and the line that it has reached.
struct PlaceInCode {
    uint32_t id;   // Id of the function.
    uint32_t line; // Line in the source file, or 0 if unknown.
};

struct Attribution {
    // struct Attribution owns none of its pointers.
    struct Registry *registry;
    const struct Opcodes *opcodes;
    const struct Memory *memory;
    // Queue of calls of functions that have no hooks (are dark). A thread that
    // holds the GIL empties this queue.
    struct CallEdges *edges;
    struct LongCalls *long_calls; // NULL if nobody tags calls.
    struct Flame *flame;          // NULL if there is no flame graph.
    struct Native *native;
    // The C functions of the present sample, as Native_resolve returns them.
    const uint32_t *natives;
    size_t native_count;
    // The CPU time of asyncio's tasks, or NULL as long as no viewer or program
    // has asked for it.
    struct TaskShares *_Atomic tasks;
    struct SampleSink sink;
    struct WaitChoice choice; // Chooses the waits that `sink` gets.
    // Offset of co_code_adaptive in CPython's PyCodeObject.
    size_t code_bytecode;
    // Ticks that a call of an empty function takes without tracing.
    double call_ticks;
    double hz;      // Ticks per second.
    uint32_t stamp; // Number of the newest sample.
    // Number of the newest turn in which all threads are observed.
    uint32_t turn;
};

// Returns the code unit that a function's frame has reached, or UINT32_MAX if
// the frame is not at an instruction of `code`.
uint32_t Attribution_unit(const struct Attribution *attribution,
                          const struct Code *code,
                          const struct WalkFrame *frame);
// Returns the line of the instruction at the code unit `unit`, or 0 if `unit`
// is UINT32_MAX.
uint32_t Attribution_line(const struct Attribution *attribution,
                          const struct Code *code, uint32_t unit);
// Finds out from the innermost frame's instruction what the thread does, and
// sets `in_c` and `waits_to_run` of the stack. If the innermost frame is about
// to call a Python function, pushes that function onto the stack. CPython's
// time for making the function's frame then counts as the function's own time.
// `active` is true if the thread held the GIL.
void Attribution_judge(const struct Attribution *attribution,
                       struct SampledStack *stack, bool active);
// Returns true if the registry lacked code of the stack when the stack was
// read, and has got new code since.
bool Attribution_can_find_more(const struct Attribution *attribution,
                               const struct SampledStack *stack);
// Credits `cpu_ns` of CPU time and `wait_ns` of waiting time to the functions
// on the stack, and divides the waiting time by its kind. Attribution_add also
// divides the thread's CPU time by functions, in *functions. Returns the part
// of `cpu_ns` that was spent in functions that are not traced.
double Attribution_add(struct Attribution *attribution,
                       struct SampledStack *stack, const struct ShareTime *now,
                       struct Breakdown *functions, double cpu_ns,
                       double wait_ns);
// Notes for how many ns the thread of the stack has not run, or 0 if it has run
// since its last observation or has ended. If it is 0, the wait that is held is
// credited.
void Attribution_settle_wait(const struct Attribution *attribution,
                             struct SampledStack *stack,
                             const struct ShareTime *now, double lasted_ns);
// `ns` is the time for which other threads waited for the GIL.
// Attribution_block credits `ns` to the innermost traced function of the stack.
void Attribution_block(const struct Attribution *attribution,
                       const struct SampledStack *stack,
                       const struct ShareTime *now, double ns);
// Writes at most `most` traced functions of the stack to `places`, the
// innermost first, with their lines. Returns the number of functions in
// `places`.
size_t Attribution_places(const struct Attribution *attribution,
                          const struct SampledStack *stack,
                          struct PlaceInCode *places, size_t most);
