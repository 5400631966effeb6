// SPDX-License-Identifier: MIT
// Finds shares of time without hooks. Each Python thread is sampled in its own
// CPU time by a signal (cpu_timer.h). A thread of ours, "ocular-sampler",
// collects the samples one to four times a second, and then observes in which
// functions threads wait (observer.h). This thread never attaches to the
// interpreter and dereferences nothing that it read. A code pointer counts only
// if the registry knows the pointer.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLER_H
#define OCULAR_TRACER_SAMPLE_SAMPLER_H

#include "ipc/base/worker.h"
#include "tracer/base/clock.h"
#include "tracer/code/registry.h"
#include "tracer/sample/sample_clock.h"
#include "tracer/sample/sampled_threads.h"

struct SamplerTotals {
    double hz;       // samples per second, in the window
    double window_s; // s: length of the window of shares (share.h)
    double window_samples;
    uint64_t wakeups; // wake-ups of the sampler's thread
    uint64_t samples; // samples of running threads
    // part of `samples`: stacks that could not be read to the end
    uint64_t unknown;
    uint64_t truncated; // part of `samples`: stacks deeper than WALK_DEPTH
    uint64_t lost;      // samples without room; the next sample got their time
    uint64_t ours;      // part of `samples`: the thread ran a hook
    uint64_t untimed;   // threads that cannot have a timer
    int signal;         // the samples' signal; 0: there are only observations
    // The reason for no signal: -EBUSY (no signal is free), -EINVAL (the signal
    // cannot be chosen) or -EPERM (a thread may not read its memory).
    int error;
    // The share of one core's wall time, in the window, in which threads ran
    // excluded or unknown code on top of their stacks. The share contains this
    // time even if the time was credited to an accepted caller. Waiting is not
    // counted, because idle threads always wait in unknown code.
    double elsewhere;
    double cpu_s;      // CPU time of our thread, and of making timers on others
    double handlers_s; // CPU time of the samples on the program's threads
    uint64_t taken;    // samples for which `handlers_s` was spent
};

struct Sampler;

// The parts that the sampler works with. All parts except the clock must stay
// in place.
struct SamplerParts {
    struct Registry *registry;
    const struct FrameLayout *layout;
    const struct Opcodes *opcodes;
    const struct Clock *counter;
    const struct SampleClock *clock; // NULL: the kernel's clocks
    struct SampleSink sink;          // gets all samples, too
    // The signal to be used. 0: any free signal. Below 0: no signal, and only
    // observations.
    int signal;
};

// Makes a sampler that has no thread until Sampler_resume. `hz` is as in
// Sampler_set_hz. Returns 0 or -errno: -EPERM if no way of reading memory works
// here, -EINVAL for an impossible layout or rate.
int Sampler_new(struct Sampler **sampler, const struct SamplerParts *parts,
                double hz);
// Does one wake-up of the sampler's thread: collects the samples and observes
// the threads, if the time has come. Returns the time of the next wake-up in ns
// of CLOCK_MONOTONIC. If the sampler has no thread, any one thread may call
// this function.
uint64_t Sampler_step(struct Sampler *sampler);
// Calls Sampler_new and Sampler_resume.
int Sampler_start(struct Sampler **sampler, const struct SamplerParts *parts,
                  double hz);
void Sampler_stop(struct Sampler *sampler); // joins the thread and frees
// Sets the number of samples per second of a thread's CPU time, above 0 and at
// most 10000, from the sampler's next step on. Returns 0 or -EINVAL. Any thread
// may call this function.
int Sampler_set_hz(struct Sampler *sampler, double hz);
// Sampler_pause ends the sampler's thread. All data stays, and samples wait to
// be collected. Sampler_resume starts the thread again and returns 0 or -errno.
// After an error Sampler_resume may be called again. Only one thread at a time
// calls the two functions.
void Sampler_pause(struct Sampler *sampler);
int Sampler_resume(struct Sampler *sampler);
// Collects the samples that are left after the sampler's thread has ended.
void Sampler_collect(struct Sampler *sampler);
void Sampler_abandon(struct Sampler *sampler); // frees all, in a forked child
// Copies the list of the thread states that exist now. The shares of known
// threads stay. The governor calls this function while it holds the GIL, and
// the function takes no lock. Returns 0 or -ENOMEM.
int Sampler_set_threads(struct Sampler *sampler,
                        const struct ListedThread *threads, size_t count);
// Samples the calling thread from now on, however soon the thread ends. The
// thread has the PyThreadState `state` and runs its first code. Allocates
// memory and makes two system calls, which take 5 us. The caller holds the GIL,
// and the sampler must not be stopping.
void Sampler_begin_thread(struct Sampler *sampler, uintptr_t state);
// Lists the threads in *shares, which is for Heap_free(). The list has the
// ended threads, except the dropped threads. Returns the count or -errno. Any
// thread may call this function.
long Sampler_threads(struct Sampler *sampler, struct ThreadShares **shares);
uint64_t Sampler_threads_dropped(struct Sampler *sampler);
void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals);
// Returns the stacks since the start and in the window, in at most `most` rows,
// or NULL if memory is out. The caller owns the table. Any thread may call this
// function.
struct FlameTable *Sampler_stacks(struct Sampler *sampler, size_t most);
// Takes the next call of dark code that was seen on a stack and not reported
// yet. Returns false if there is no such call. Only one thread at a time calls
// this function: the thread that may record the call.
bool Sampler_take_edge(struct Sampler *sampler, struct CallEdge *edge);
// Returns the time base of all shares, which is the sampler's newest step.
struct ShareTime Sampler_now(const struct Sampler *sampler);
// Returns the ticks before which all samples are attributed, or UINT64_MAX if
// no samples will come. Any thread may call this function.
uint64_t Sampler_collected_ticks(const struct Sampler *sampler);
// Returns true if no way of reading memory has worked for some seconds. A
// program may have its system calls filtered at any time. The shares then stay
// as they are, and do not contain the time of denied reads. The sampler tries
// to read again now and then.
bool Sampler_is_denied(const struct Sampler *sampler);

#endif
