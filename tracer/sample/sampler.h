// SPDX-License-Identifier: MIT
// struct Sampler measures without hooks in which functions threads spend their
// time. In each Python thread, a signal takes a sample after every few ms of
// the thread's CPU time (cpu_timer.h). The sampler's own thread,
// "ocular-sampler", collects the samples one to four times a second, and then
// observes in which functions threads wait (observer.h). The sampler's thread
// never attaches to the interpreter. The sampler's thread never dereferences a
// pointer that it has read in CPython's memory. The sampler uses the address of
// a code object only if the registry knows it.
#pragma once

#include "ipc/base/worker.h"
#include "tracer/base/clock.h"
#include "tracer/code/registry.h"
#include "tracer/sample/event_loops.h"
#include "tracer/sample/gil_watch.h"
#include "tracer/sample/sample_clock.h"

struct SamplerTotals {
    // Samples of running threads per second, in the newest seconds (share.h).
    double hz;
    // Number of newest seconds over which shares are computed (share.h).
    double window_s;
    double window_samples;
    uint64_t samples; // Number of samples of running threads.
    // Number of samples whose stack could not be read to the end. `samples`
    // also counts these samples.
    uint64_t unknown;
    // Number of samples whose stack is deeper than WALK_DEPTH. `samples` also
    // counts these samples.
    uint64_t truncated;
    // Number of samples that were lost because a ring was full. The CPU time of
    // a lost sample is added to the thread's next sample.
    uint64_t lost;
    // Number of samples that were taken while the thread ran a hook of Ocular.
    // `samples` also counts these samples.
    uint64_t ours;
    uint64_t untimed; // Number of threads that cannot have a timer.
    // Number of the signal that takes samples, or 0 if there are only
    // observations.
    int signal;
    // Reason why no signal takes samples. -EBUSY means that no signal is free,
    // -EINVAL that the chosen signal cannot be used, and -EPERM that a thread
    // may not read its own memory.
    int error;
    // Time in which threads ran in functions that are excluded or unknown, as a
    // fraction of one core's wall-clock time in the newest seconds. `elsewhere`
    // contains the time of an excluded function even if this time was also
    // credited to a traced caller. `elsewhere` does not contain waiting time,
    // because idle threads always wait in unknown code.
    double elsewhere;
    // Seconds of CPU time of the sampler's thread, and of other threads when
    // they made their timers.
    double cpu_s;
    // Seconds of CPU time of the signal handlers on the program's threads.
    double handlers_s;
    // Seconds of CPU time for which samples found a hook of Ocular running.
    double ours_s;
    // Number of samples whose signal handlers took `handlers_s`.
    uint64_t taken;
};

struct Sampler;

// The objects that a sampler uses. While the sampler exists, all objects except
// `clock` must stay at their addresses.
struct SamplerParts {
    struct Registry *registry;
    const struct FrameLayout *layout;
    const struct Opcodes *opcodes;
    const struct Clock *counter;
    // NULL if the sampler reads the kernel's clocks.
    const struct SampleClock *clock;
    struct SampleSink sink;   // `sink` also gets each sample.
    struct EventLoops *loops; // NULL if no event loop is observed.
    struct LongCalls *long_calls;
    // Reads files for walks over C functions, or NULL if nothing can read them.
    NativeReader *native_reader;
    // Ticks that a call of an empty function takes without tracing.
    double call_ticks;
    // Number of the signal that takes samples. 0 means any free signal. With a
    // negative number, the sampler uses no signal and only observes.
    int signal;
};

// Makes a sampler. The sampler's thread starts with Sampler_resume. `hz` is the
// number of samples per second of a thread's CPU time. Returns 0 or -errno.
// -EPERM means that no way of reading memory works. -EINVAL means that the
// layout of CPython's frames or `hz` is impossible.
int Sampler_new(struct Sampler **sampler, const struct SamplerParts *parts,
                double hz);
// Does the work of one wake-up of the sampler's thread, which collects the
// samples and observes the threads if an observation is due. Returns
// CLOCK_MONOTONIC in ns at which the next wake-up is due. If the sampler has no
// thread, any thread may call Sampler_step, but only one at a time.
uint64_t Sampler_step(struct Sampler *sampler);
// Calls Sampler_new and Sampler_resume, so that the sampler runs.
int Sampler_start(struct Sampler **sampler, const struct SamplerParts *parts,
                  double hz);
// Joins the sampler's thread and frees the sampler.
void Sampler_stop(struct Sampler *sampler);
// Sets the number of samples per second of a thread's CPU time, which must be
// above 0 and at most 10000. The sampler uses the number from its next step on.
// Returns 0 or -EINVAL. Any thread may call Sampler_set_hz.
int Sampler_set_hz(struct Sampler *sampler, double hz);
// Sampler_pause ends the sampler's thread. During a pause all data stays, and
// new samples stay in the rings until they are collected. Sampler_resume starts
// the thread again and returns 0 or -errno. After an error, Sampler_resume may
// be called again. Only one thread at a time may call Sampler_pause or
// Sampler_resume.
void Sampler_pause(struct Sampler *sampler);
int Sampler_resume(struct Sampler *sampler);
// Collects the remaining samples after the sampler's thread has ended.
void Sampler_collect(struct Sampler *sampler);
// Frees the sampler's memory in a forked child.
void Sampler_abandon(struct Sampler *sampler);
// Hands over a list of all thread states to the sampler, which copies the list.
// Threads that the sampler already knows keep their shares. The governor calls
// Sampler_set_threads while it holds the GIL, and the function takes no lock.
// Returns 0 or -ENOMEM.
int Sampler_set_threads(struct Sampler *sampler,
                        const struct ListedThread *threads, size_t count);
// Makes a CPU timer for the calling thread at once, so that even a very short
// thread gets its share of the samples. `state` is the PyThreadState with which
// the thread runs its first code. A new timer takes memory and two system
// calls, together 5 us. The caller of Sampler_begin_thread holds the GIL, and
// the sampler must not be stopping.
void Sampler_begin_thread(struct Sampler *sampler, uintptr_t state);
// Fills in a snapshot's rows of all sampled threads (SampledThreads_fill).
// Numbers about the GIL that the sampler does not know are null. Any thread may
// call Sampler_threads.
struct Thread *Sampler_threads(struct Sampler *sampler,
                               struct Snapshot *snapshot, size_t more);
void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals);
// Reads the sampler's numbers about the GIL. Any thread may call Sampler_gil.
void Sampler_gil(struct Sampler *sampler, struct GilFigures *figures);
// Returns true if the sampler can read which thread has the GIL, and can find
// out which threads wait for it.
bool Sampler_knows_waits(const struct Sampler *sampler);
// Returns true if the sampler can also find out how long threads wait for a
// CPU.
bool Sampler_knows_ready(const struct Sampler *sampler);
// Returns a table, with at most `most` rows, of the stacks that samples have
// found since the start and in the newest seconds. Returns NULL if there is no
// memory. The caller owns the table. Any thread may call Sampler_stacks.
struct FlameTable *Sampler_stacks(struct Sampler *sampler, size_t most);
// Samples contain C functions until CLOCK_MONOTONIC is `until_ns`, or longer if
// an earlier call has asked for a later time. Any thread may call
// Sampler_want_natives.
void Sampler_want_natives(struct Sampler *sampler, uint64_t until_ns);
// Returns true if samples contain C functions now.
bool Sampler_has_natives(const struct Sampler *sampler);
// Returns true if samples never contain C functions of Python functions,
// because no walk finds CPython's evaluation loop.
bool Sampler_misses_loop(const struct Sampler *sampler);
// Calls `visit` for the innermost C functions that the Python function `id` has
// called, with the line, the id of the C function, and its ns of CPU time
// (Flame_below). Sampler_describe_native describes one of these C functions
// (Native_describe). Any thread may call Sampler_natives_of and
// Sampler_describe_native.
void Sampler_natives_of(struct Sampler *sampler, uint32_t id, FlameVisit *visit,
                        void *context);
void Sampler_describe_native(struct Sampler *sampler,
                             struct FlameFunction *function,
                             struct Arena *arena);
// Returns the share of a core that the tasks of one group (task_shares.h) have
// had in the newest seconds. The CPU time of tasks is sampled from the first
// call on, and the result is NaN until then, and for a second more. Only the
// thread that builds snapshots calls Sampler_task_share.
double Sampler_task_share(struct Sampler *sampler, uint32_t id);
// Returns the share of a core that a single task (TaskShares_read_single) has
// had in the newest seconds, or NaN before the first call of
// Sampler_task_share. Only the thread that reads tasks calls this function.
double Sampler_single_share(struct Sampler *sampler, uintptr_t root,
                            uint64_t key);
// A sample can find a call of a function that has no hooks (is dark) on a
// stack. Sampler_take_edge takes a call that was found in this way from a
// queue. Returns false if this queue is empty. Only one thread at a time may
// call Sampler_take_edge.
bool Sampler_take_edge(struct Sampler *sampler, struct CallEdge *edge);
// Returns the time of the sampler's newest step, which is the present time for
// all shares.
struct ShareTime Sampler_now(const struct Sampler *sampler);
// Returns the time in ticks before which all samples are attributed, or
// UINT64_MAX if no more samples will come. Any thread may call
// Sampler_collected_ticks.
uint64_t Sampler_collected_ticks(const struct Sampler *sampler);
// Returns true if no way of reading memory has worked for some seconds, for
// example because the program has begun to filter its system calls. Shares do
// not change while memory cannot be read, and do not contain this time. The
// sampler tries every two seconds whether memory can be read again.
bool Sampler_is_denied(const struct Sampler *sampler);
