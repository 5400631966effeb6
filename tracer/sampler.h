// SPDX-License-Identifier: MIT
// Shares of time without a hook: a thread ("ocular-sampler") that reads, at
// jittered intervals, the running frame of every Python thread out of its own
// process, by process_vm_readv (or /proc/self/mem), and credits the function
// on top. It never attaches to the interpreter and dereferences nothing that
// it read: a code pointer counts only if the registry knows it.
#ifndef OCULAR_TRACER_SAMPLER_H
#define OCULAR_TRACER_SAMPLER_H

#include "tracer/registry.h"
#include "tracer/share.h"

#include <sys/types.h>

// Where things are in this interpreter's structs; filled by python/.
struct FrameLayout {
    size_t thread_frame; // in PyThreadState: current frame, or the cframe
    bool through_cframe; // 3.12: thread_frame points to a struct whose
    size_t cframe_frame; // member here is the current frame
    size_t thread_chunk; // in PyThreadState: newest data stack chunk
    size_t thread_top;   // in PyThreadState: first free slot in it
    size_t frame_code;   // in _PyInterpreterFrame
    size_t frame_previous;
    size_t frame_instruction;
    uintptr_t code_mask;  // clears the tag bits of frame_code
    size_t code_bytecode; // in PyCodeObject: co_code_adaptive
};

struct SampledThread {
    uintptr_t state; // PyThreadState
    pid_t tid;       // 0 is skipped
    char name[64];
};

// A thread's numbers, as seen by the sampler.
struct ThreadShares {
    pid_t tid;
    char name[64];
    double cpu_share;
    double wait_share;
    uint64_t samples;
};

struct SamplerTotals {
    double hz; // as achieved
    uint64_t samples;
    uint64_t unknown;   // frames that could not be read or were torn
    uint64_t truncated; // walks cut off at the depth bound
    double elsewhere;   // share of time with no accepted function on the stack
    double cpu_s;       // the sampler thread's own CPU time
};

struct Sampler;

// 0, or -errno: -EPERM when neither way of reading works here.
int Sampler_start(struct Sampler **sampler, struct Registry *registry,
                  const struct FrameLayout *layout, double hz);
void Sampler_stop(struct Sampler *sampler);    // joins, frees
void Sampler_abandon(struct Sampler *sampler); // after fork: frees, no join
// The thread states that now exist (copied). Called with the interpreter's
// lock held, by the governor.
int Sampler_set_threads(struct Sampler *sampler,
                        const struct SampledThread *threads, size_t count);
// Any thread. *shares is malloc'ed; returns the count or -errno.
long Sampler_threads(struct Sampler *sampler, struct ThreadShares **shares);
void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals);
// ns since it started, the time base of the functions' shares.
double Sampler_now(struct Sampler *sampler);

#endif
