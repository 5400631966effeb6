// SPDX-License-Identifier: MIT
// Measures shares of time without hooks. In each Python thread a signal takes a
// sample after every few ms of the thread's CPU time (cpu_timer.h). A thread of
// ours, "ocular-sampler", collects the samples one to four times a second.
// After collecting, "ocular-sampler" observes in which functions threads wait
// (observer.h). The sampler's thread never attaches to the interpreter, and
// never dereferences a pointer that it has read. A code pointer counts only if
// the registry knows the pointer.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLER_H
#define OCULAR_TRACER_SAMPLE_SAMPLER_H

#include "ipc/base/worker.h"
#include "tracer/base/clock.h"
#include "tracer/code/registry.h"
#include "tracer/sample/event_loops.h"
#include "tracer/sample/gil_watch.h"
#include "tracer/sample/sample_clock.h"

struct SamplerTotals {
    double hz;       // samples per second in the window
    double window_s; // length of the window of shares (share.h) in seconds
    double window_samples;
    uint64_t wakeups; // number of wake-ups of the sampler's thread
    uint64_t samples; // number of samples of running threads
    // samples, counted in `samples`, whose stacks could not be read to the end
    uint64_t unknown;
    // Samples, counted in `samples`, whose stacks are deeper than WALK_DEPTH.
    uint64_t truncated;
    // Number of samples that were lost because a ring was full. The next sample
    // got the time of a lost sample.
    uint64_t lost;
    // Samples, counted in `samples`, in which the thread ran a hook.
    uint64_t ours;
    uint64_t untimed; // number of threads that cannot have a timer
    // number of the samples' signal; 0 if there are only observations
    int signal;
    // The reason why there is no signal. -EBUSY means that no signal is free,
    // -EINVAL that the signal cannot be chosen, and -EPERM that a thread may
    // not read its own memory.
    int error;
    // The time in the window in which a running thread's innermost function was
    // excluded or unknown, as a share of one core. This time counts here even
    // if an accepted caller was credited with it. Waiting is not counted,
    // because idle threads always wait in unknown code.
    double elsewhere;
    // CPU time of the sampler's thread, and of making timers on other threads
    double cpu_s;
    double handlers_s; // CPU time of the samples on the program's threads
    double ours_s;     // CPU time of the samples that found our code, a hook
    uint64_t taken;    // number of samples for which `handlers_s` was spent
};

struct Sampler;

// The objects that the sampler uses. All objects except `clock` must stay at
// their addresses.
struct SamplerParts {
    struct Registry *registry;
    const struct FrameLayout *layout;
    const struct Opcodes *opcodes;
    const struct Clock *counter;
    const struct SampleClock *clock; // NULL for the kernel's clocks
    struct SampleSink sink;          // the consumer that gets each sample, too
    struct EventLoops *loops;        // NULL if no loop is observed
    double call_ticks; // ticks that an untraced call of an empty function takes
    // The signal to be used. 0 means any free signal. A negative number means
    // that no signal is used, so that the sampler only observes.
    int signal;
};

// Makes a sampler that has no thread until Sampler_resume. `hz` has the same
// meaning as in Sampler_set_hz. Returns 0 or -errno. -EPERM means that no way
// of reading memory works, and -EINVAL that the layout or the rate is
// impossible.
int Sampler_new(struct Sampler **sampler, const struct SamplerParts *parts,
                double hz);
// Does the work of one wake-up of the sampler's thread. Collects the samples,
// and observes the threads if an observation is due. Returns the time of the
// next wake-up in ns of CLOCK_MONOTONIC. If the sampler has no thread, any
// thread may call this function, but only one at a time.
uint64_t Sampler_step(struct Sampler *sampler);
// Calls Sampler_new and Sampler_resume.
int Sampler_start(struct Sampler **sampler, const struct SamplerParts *parts,
                  double hz);
// Joins the thread and frees the sampler.
void Sampler_stop(struct Sampler *sampler);
// Sets the number of samples per second of a thread's CPU time, which must be
// above 0 and at most 10000. The number is used from the sampler's next step
// on. Returns 0 or -EINVAL. Any thread may call this function.
int Sampler_set_hz(struct Sampler *sampler, double hz);
// Sampler_pause ends the thread of the sampler. All data stays, and the samples
// stay in the rings until they are collected. Sampler_resume starts the thread
// again and returns 0 or -errno. After an error Sampler_resume may be called
// again. Only one thread at a time calls the two functions.
void Sampler_pause(struct Sampler *sampler);
int Sampler_resume(struct Sampler *sampler);
// Collects the remaining samples after the sampler's thread has ended.
void Sampler_collect(struct Sampler *sampler);
// Frees all memory in a forked child.
void Sampler_abandon(struct Sampler *sampler);
// Passes the list of the thread states that exist now. The sampler copies the
// list. The shares of known threads stay. The governor calls this function
// while it holds the GIL, and the function takes no lock. Returns 0 or -ENOMEM.
int Sampler_set_threads(struct Sampler *sampler,
                        const struct ListedThread *threads, size_t count);
// Makes the sampler sample the calling thread at once, so that even a very
// short thread has a sample. The thread runs its first code with the
// PyThreadState `state`. The function allocates memory and makes two system
// calls, which take 5 us. The caller holds the GIL, and the sampler must not be
// stopping.
void Sampler_begin_thread(struct Sampler *sampler, uintptr_t state);
// Writes the threads to *shares, which the caller frees with Heap_free(). The
// list includes the ended threads, except the ended threads that were dropped.
// Returns the count or -errno. Any thread may call this function.
long Sampler_threads(struct Sampler *sampler, struct ThreadShares **shares);
uint64_t Sampler_threads_dropped(struct Sampler *sampler);
void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals);
// Reads the numbers about the GIL. Any thread may call this function.
void Sampler_gil(struct Sampler *sampler, struct GilFigures *figures);
// Returns true if it is known which thread has the GIL.
bool Sampler_knows_gil(const struct Sampler *sampler);
// Returns true if it is also known which threads wait for the GIL.
bool Sampler_knows_waits(const struct Sampler *sampler);
// Returns the stacks since the start and in the window, in at most `most` rows,
// or NULL if memory is out. The caller owns the table. Any thread may call this
// function.
struct FlameTable *Sampler_stacks(struct Sampler *sampler, size_t most);
// Takes the next call of dark code from the queue of calls that were seen on
// stacks. Returns false if there is no such call. Only one thread at a time may
// call this function.
bool Sampler_take_edge(struct Sampler *sampler, struct CallEdge *edge);
// Returns the time of the sampler's newest step, to which all shares refer.
struct ShareTime Sampler_now(const struct Sampler *sampler);
// Returns the time in ticks before which all samples are attributed, or
// UINT64_MAX if no samples will come. Any thread may call this function.
uint64_t Sampler_collected_ticks(const struct Sampler *sampler);
// Returns true if no way of reading memory has worked for some seconds. For
// example, a program may start to filter its system calls at any time. While
// reads are denied the shares do not change, and this time is not part of the
// shares. The sampler tries again from time to time.
bool Sampler_is_denied(const struct Sampler *sampler);

#endif
