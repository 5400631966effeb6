// SPDX-License-Identifier: MIT
// Shares of time without a hook. Each Python thread is sampled in its own CPU
// time, by a signal (cpu_timer.h); a thread of ours ("ocular-sampler") collects
// the samples one to four times a second, and observes then in which functions
// threads wait (observer.h). It never attaches to the interpreter and
// dereferences nothing that it read: a code pointer counts only if the registry
// knows it.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLER_H
#define OCULAR_TRACER_SAMPLE_SAMPLER_H

#include "ipc/base/worker.h"
#include "tracer/base/clock.h"
#include "tracer/code/registry.h"
#include "tracer/sample/sample_clock.h"
#include "tracer/sample/sampled_threads.h"

struct SamplerTotals {
    double hz;       // samples a second, in the window
    double window_s; // of the shares: see share.h
    double window_samples;
    uint64_t wakeups;   // times that its thread woke up
    uint64_t samples;   // of running threads
    uint64_t unknown;   // of these: stacks that could not be read to the end
    uint64_t truncated; // of these: stacks deeper than WALK_DEPTH
    uint64_t lost;      // for want of room; their time went to the next one
    uint64_t ours;      // of samples: they found the thread in a hook's code
    uint64_t untimed;   // threads that can have no timer
    int signal;         // that the samples come by; 0: observations alone
    int error;          // why: -EBUSY no signal is free, -EINVAL not one to
                        // choose, -EPERM a thread may not read its memory
    // Share of one core's wall time, in the window, that threads were *running*
    // while the top of their stacks was no accepted function, but excluded or
    // unknown code. It does not matter whether an accepted caller was given the
    // time. Waiting there is not counted, since idle threads always do that.
    double elsewhere;
    double cpu_s;      // CPU time of its thread, and of making timers on others
    double handlers_s; // CPU time that samples took on the program's threads
    uint64_t taken;    // samples that took it
};

struct Sampler;

// The parts that the sampler works with. All but the clock must stay in place.
struct SamplerParts {
    struct Registry *registry;
    const struct FrameLayout *layout;
    const struct Opcodes *opcodes;
    const struct Clock *counter;
    const struct SampleClock *clock; // NULL: the kernel's
    struct SampleSink sink;          // gets them, too
    int signal;                      // to be used; 0: any that is free,
                                     // below 0: none, observations alone
};

// Without a thread, until Sampler_resume. `hz` as in Sampler_set_hz. 0, or
// -errno: -EPERM when no way of reading works here, -EINVAL for a layout or a
// rate that cannot be.
int Sampler_new(struct Sampler **sampler, const struct SamplerParts *parts,
                double hz);
// One wake-up of the sampler's thread: collects the samples and observes the
// threads, as far as that is due. Returns when the next time is, ns of
// CLOCK_MONOTONIC. If the sampler has no thread, any one thread may call it.
uint64_t Sampler_step(struct Sampler *sampler);
// Sampler_new, and Sampler_resume.
int Sampler_start(struct Sampler **sampler, const struct SamplerParts *parts,
                  double hz);
void Sampler_stop(struct Sampler *sampler); // joins, frees
// Samples a second of CPU time that a thread uses, from its next step on: more
// than 0, at most 10000. Any thread; 0 or -EINVAL.
int Sampler_set_hz(struct Sampler *sampler, double hz);
// Its thread ends, all else stays, and samples wait to be collected; and goes
// on (0 or -errno, then it may be tried again). One thread at a time calls
// these.
void Sampler_pause(struct Sampler *sampler);
int Sampler_resume(struct Sampler *sampler);
// Once its thread has ended: collects the samples that are left.
void Sampler_collect(struct Sampler *sampler);
void Sampler_abandon(struct Sampler *sampler); // after fork: frees, no join
// The thread states that now exist (copied); the shares of those known stay.
// Called with the interpreter's lock held, by the governor: takes no lock. 0 or
// -ENOMEM.
int Sampler_set_threads(struct Sampler *sampler,
                        const struct ListedThread *threads, size_t count);
// The calling thread has that PyThreadState and runs its first code: from here
// on it is sampled, however soon it ends. Allocates and makes two system calls,
// 5 us. With the interpreter's lock, not while the sampler stops.
void Sampler_begin_thread(struct Sampler *sampler, uintptr_t state);
// Any thread. *shares is for Heap_free(); returns the count or -errno. Threads
// that have ended are among them, but for the ones dropped.
long Sampler_threads(struct Sampler *sampler, struct ThreadShares **shares);
uint64_t Sampler_threads_dropped(struct Sampler *sampler);
void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals);
// The stacks since the start and in the window, in at most so many rows. The
// caller's; NULL when memory is out. Any thread.
struct FlameTable *Sampler_stacks(struct Sampler *sampler, size_t most);
// A caller of dark code, seen on a stack: the next one that was not reported
// yet. false: none. One thread at a time, the one that may write it down.
bool Sampler_take_edge(struct Sampler *sampler, struct CallEdge *edge);
// The time base of all shares, up to its newest step.
struct ShareTime Sampler_now(const struct Sampler *sampler);
// All samples that were taken before then are attributed; UINT64_MAX: none are
// to come. Any thread.
uint64_t Sampler_collected_ticks(const struct Sampler *sampler);
// All ways of reading are refused by now, for some seconds: a program may have
// its system calls filtered at any time. The shares stay as they were then, and
// the time meanwhile is no part of them; it tries again now and then.
bool Sampler_is_denied(const struct Sampler *sampler);

#endif
