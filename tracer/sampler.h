// SPDX-License-Identifier: MIT
// Shares of time without a hook: a thread ("ocular-sampler") that reads, at
// jittered intervals, the running frame of every Python thread out of its own
// process (walk.h), and credits the function on top: its CPU time to what was
// running, the rest to what it waited in (subject.h). It never attaches to the
// interpreter and dereferences nothing that it read: a code pointer counts only
// if the registry knows it.
#ifndef OCULAR_TRACER_SAMPLER_H
#define OCULAR_TRACER_SAMPLER_H

#include "ipc/worker.h"
#include "tracer/registry.h"
#include "tracer/sample_clock.h"
#include "tracer/subjects.h"

struct SamplerTotals {
    double hz; // as achieved lately
    uint64_t wakeups;
    uint64_t met;       // of these: the program had run just before
    uint64_t samples;   // looks at a thread
    uint64_t unknown;   // of these: stacks that could not be read to the end
    uint64_t truncated; // of these: stacks deeper than WALK_DEPTH
    // Share of one core's wall time, in the window, that threads were *running*
    // with something else on top of their stacks than an accepted function:
    // excluded or unknown code, whether an accepted caller was credited or
    // nobody was. Waiting there is not counted: that is how idle threads live.
    double elsewhere;
    double cpu_s;          // CPU time of its thread and of those that help it;
    double measure_s;      // of that, what measuring interruption_s has taken
    double interruption_s; // what a wake-up of a thread of ours costs whom it
                           // takes the CPU from; 0 until it is known, or
                           // is assumed where it cannot be
};

struct Sampler;

// What it works with: all but the clock stay where they are.
struct SamplerParts {
    struct Registry *registry;
    const struct FrameLayout *layout;
    const struct Opcodes *opcodes;
    const struct SampleClock *clock; // NULL: the kernel's
};

// Without a thread, until Sampler_resume. 0, or -errno: -EPERM when no way of
// reading works here, -EINVAL for a layout or a rate (more than 0, up to 10000)
// that cannot be.
int Sampler_new(struct Sampler **sampler, const struct SamplerParts *parts,
                double hz);
// What its thread does each time that it wakes up: looks if a look is due, and
// takes over a rate that was changed. Returns when the next look is due, ns of
// its CLOCK_MONOTONIC; UINT64_MAX: it stands by. Where it has no thread, any
// one thread may.
uint64_t Sampler_step(struct Sampler *sampler);
// Sampler_new by the kernel's clocks, and Sampler_resume.
int Sampler_start(struct Sampler **sampler, struct Registry *registry,
                  const struct FrameLayout *layout,
                  const struct Opcodes *opcodes, double hz);
void Sampler_stop(struct Sampler *sampler); // joins, frees
// Wake-ups a second from now on, at most 10000; 0: it stands by, its thread
// sleeps, the shares stay as they were and what happens meanwhile is no part of
// them. Any thread; 0 or -EINVAL. Ever so often: a rate that is the same does
// nothing. By itself it looks only some eight times a second while no Python
// thread runs.
int Sampler_set_hz(struct Sampler *sampler, double hz);
// Its thread ends, all else stays; and goes on (0 or -errno, then it may be
// tried again). One thread at a time calls these.
void Sampler_pause(struct Sampler *sampler);
int Sampler_resume(struct Sampler *sampler);
void Sampler_abandon(struct Sampler *sampler); // after fork: frees, no join
// The thread states that now exist (copied); the shares of those known stay.
// Called with the interpreter's lock held, by the governor: takes no lock. 0 or
// -ENOMEM.
int Sampler_set_threads(struct Sampler *sampler,
                        const struct SampledThread *threads, size_t count);
// Any thread. *shares is for Heap_free(); returns the count or -errno. Threads
// that have ended are among them, but for the ones dropped.
long Sampler_threads(struct Sampler *sampler, struct ThreadShares **shares);
uint64_t Sampler_threads_dropped(struct Sampler *sampler);
void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals);
// The stacks seen lately, which are kept from the first call on, for as long as
// it is called every few seconds. The caller's; NULL when memory is out. Any
// thread.
struct FlameTable *Sampler_stacks(struct Sampler *sampler);
// A caller of dark code, seen on a stack: the next one that was not told yet.
// false: none. One thread at a time, the one that may write it down.
bool Sampler_take_edge(struct Sampler *sampler, struct Edge *edge);
// The time base of the functions' shares: ns that it has sampled for, up to its
// newest look, so that what it has not come to yet is not missing from a share.
double Sampler_now(const struct Sampler *sampler);
// All ways of reading are refused by now, for some seconds: a program may have
// its system calls filtered at any time. The shares stay as they were, of then,
// and what happens meanwhile is no part of them; it tries again now and then.
bool Sampler_is_blind(const struct Sampler *sampler);

#endif
