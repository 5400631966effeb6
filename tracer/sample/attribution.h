// SPDX-License-Identifier: MIT
// Attributes the time of a sampled stack to functions. The innermost function
// that the registry knows gets the CPU time and the waiting time as its own
// time. Each function on the stack gets both times as `cumulative` time. The
// `cumulative` time of a function is also added up for each of its callers.
// Only the sampler's thread calls this code.
#ifndef OCULAR_TRACER_SAMPLE_ATTRIBUTION_H
#define OCULAR_TRACER_SAMPLE_ATTRIBUTION_H

#include "tracer/code/registry.h"
#include "tracer/sample/breakdown.h"
#include "tracer/sample/call_edges.h"
#include "tracer/sample/flame.h"
#include "tracer/sample/walk.h"

#include <sys/types.h>

// The consumer of each sample of a running thread. The consumer gets the
// sample's path, which stays valid until `take` returns, and the sample's time.
// The sampler's thread calls `take`.
struct SampleSink {
    void *context;
    void (*take)(void *context, const struct FlameSample *sample, pid_t tid,
                 uint64_t ticks); // NULL if there is no consumer
};

struct SampledStack {
    pid_t tid; // id of the sampled thread
    // Code that was adopted after the code with this id is not on the stack.
    uint32_t newest_id;
    // Code that was freed before this time of the clock is not on the stack.
    uint64_t ticks;
    bool cut;      // True if `frames` lacks some of the outer frames.
    bool in_c;     // True if the innermost frame has called a C function.
    bool entering; // True if the innermost frame is being pushed or popped.
    // True if a thread that is off the CPU waits for a CPU or for the GIL.
    bool waits_to_run;
    unsigned depth;
    // The innermost frame comes first.
    struct WalkFrame frames[WALK_DEPTH];
};

// A place in a function that is on a stack.
struct PlaceInCode {
    uint32_t id;   // of the function
    uint32_t line; // 0 if unknown
};

struct Attribution {
    struct Registry *registry; // all pointers of this struct are borrowed
    const struct Opcodes *opcodes;
    const struct Memory *memory;
    // Calls of dark code. A holder of the GIL takes these calls from the queue.
    struct CallEdges *edges;
    struct Flame *flame; // NULL if there is no flame graph
    struct SampleSink sink;
    size_t code_bytecode; // offset of co_code_adaptive in PyCodeObject
    double call_ticks;    // ticks that an untraced empty call takes
    uint32_t stamp;       // number of the newest sample
};

// Returns the code unit at which a frame of `code` is, or UINT32_MAX if the
// frame is not at an instruction of `code`.
uint32_t Attribution_unit(const struct Attribution *attribution,
                          const struct Code *code,
                          const struct WalkFrame *frame);
// Sets in_c and waits_to_run from the instruction at which the innermost frame
// is. If this instruction is about to call a Python function, the Python
// function is pushed onto the stack, because the time in which CPython makes
// the function's frame belongs to the function. `active` is true if the thread
// held the GIL.
void Attribution_judge(const struct Attribution *attribution,
                       struct SampledStack *stack, bool active);
// Attributes `cpu_ns` of CPU time and `wait_ns` of waiting time. *functions is
// the breakdown of the thread's time. Returns the CPU time in which no accepted
// function was on top of the stack.
double Attribution_add(struct Attribution *attribution,
                       const struct SampledStack *stack,
                       const struct ShareTime *now, struct Breakdown *functions,
                       double cpu_ns, double wait_ns);
// Attributes time in which other threads waited for the GIL, to the innermost
// accepted function of the stack.
void Attribution_block(const struct Attribution *attribution,
                       const struct SampledStack *stack,
                       const struct ShareTime *now, double ns);
// Writes at most `most` accepted functions of the stack, innermost first, with
// the lines at which they are. Returns their number.
size_t Attribution_places(const struct Attribution *attribution,
                          const struct SampledStack *stack,
                          struct PlaceInCode *places, size_t most);

#endif
