// SPDX-License-Identifier: MIT
// Gives the time of a sampled stack to functions: CPU time or waiting to the
// innermost that the registry knows, both as `cumulative` to each on the stack,
// there broken down by the callers of its outermost frame. The sampler's
// thread.
#ifndef OCULAR_TRACER_SAMPLE_ATTRIBUTION_H
#define OCULAR_TRACER_SAMPLE_ATTRIBUTION_H

#include "tracer/code/registry.h"
#include "tracer/sample/breakdown.h"
#include "tracer/sample/call_edges.h"
#include "tracer/sample/flame.h"
#include "tracer/sample/walk.h"

#include <sys/types.h>

// The consumer of each sample of a running thread: its path, which is the
// consumer's until it returns, and its time. On the sampler's thread.
struct SampleSink {
    void *context;
    void (*take)(void *context, const struct FlameSample *sample, pid_t tid,
                 uint64_t ticks); // NULL: no consumer
};

struct SampledStack {
    pid_t tid; // of the sampled thread
    // The stack holds no code that was adopted after this id,
    uint32_t newest_id;
    // ... and none that was freed before this time of the clock.
    uint64_t ticks;
    bool cut;       // There are more frames than `frames` has room for.
    bool in_c;      // The innermost frame has called a C function.
    bool at_resume; // The innermost frame has just begun, or been resumed.
    // If the thread is off the CPU it waits for one, or for the interpreter.
    bool waits_to_run;
    unsigned depth;
    struct WalkFrame frames[WALK_DEPTH]; // innermost first
};

struct Attribution {
    struct Registry *registry; // borrowed, as all of these
    const struct Opcodes *opcodes;
    const struct Memory *memory;
    struct CallEdges *edges; // callers of dark code, for the hooks' side
    struct Flame *flame;     // or NULL
    struct SampleSink sink;
    size_t code_bytecode; // in PyCodeObject: co_code_adaptive
    uint32_t stamp;       // of the newest
};

// The unit of an instruction that a frame of that code is at, or UINT32_MAX: it
// is none of its instructions.
uint32_t Attribution_unit(const struct Attribution *attribution,
                          const struct Code *code,
                          const struct WalkFrame *frame);
// Finds out in_c, at_resume and waits_to_run from the instruction that the
// innermost frame is at, and puts a function on top that is about to begin
// there: until its frame is pushed the time is the callee's. `active`: the
// thread had the interpreter.
void Attribution_judge(const struct Attribution *attribution,
                       struct SampledStack *stack, bool active);
// ns of CPU time and of waiting; *functions is the thread's. Returns the CPU
// time in which something else than an accepted function was on top.
double Attribution_add(struct Attribution *attribution,
                       const struct SampledStack *stack,
                       const struct ShareTime *now, struct Breakdown *functions,
                       double cpu_ns, double wait_ns);

#endif
