// SPDX-License-Identifier: MIT
// One Python thread as the sampler sees it: its CPU clock, the stack it had
// when it last ran, and what it did since. Only the sampler's thread changes
// it; its shares may be read by anyone.
#ifndef OCULAR_TRACER_SUBJECT_H
#define OCULAR_TRACER_SUBJECT_H

#include "tracer/edges.h"
#include "tracer/flame.h"
#include "tracer/registry.h"
#include "tracer/sample_clock.h"
#include "tracer/split.h"
#include "tracer/walk.h"

#include <sys/types.h>

enum SubjectDoing {
    DOING_RAN,    // at the newest look it was running
    DOING_READY,  // ... it was waiting for a CPU
    DOING_WAITED, // ... it was not
    DOING_IDLED   // and had not been since the look before
};

struct SubjectTop {
    bool in_c;   // it has called a C function
    bool queued; // it stands where CPython lets another thread have its turn
};

struct Subject {
    uintptr_t state; // PyThreadState; with tid: who it is
    pid_t tid;
    char name[64]; // guarded by the sampler's lock
    struct ShareValue cpu;
    struct ShareValue wait;
    cell_t samples;
    struct Split functions; // of its CPU time

    struct WalkStart start; // of the newest walk
    bool known;             // seen before: there is a time since then
    bool walked;            // stack is as it was when it last ran
    uint64_t cpu_ns;        // its CPU clock at the newest look
    uint64_t before_ns;     // the same, at the look before
    uint64_t wall_ns;       // CLOCK_MONOTONIC at the newest
    double since_ns;        // from the look before to the newest
    double idle_ns;         // it idled, not credited yet
    bool woke;              // the newest look was a late one: see Subject_woke
    bool readied; // when it was asked last it could run, and had no CPU
    // Of the last ten seconds or so: what it ran by its clock, and what looks
    // saw of it running and waiting for a CPU.
    double ran_ns;
    double seen_ns;
    double ready_ns;
    double owed_ns;  // CPU time that nothing has been credited with yet
    bool crowded;    // it waits for CPUs, or that is not known
    double crowd_at; // when that was found out; 0: never
    uint64_t crowd_run, crowd_delay; // ns, what its clocks said then
    uint64_t sleeps;                 // when that was asked last; 0: never
    uint32_t newest_id;              // code adopted later is not on the stack
    struct SubjectTop top;           // what the frame on top does
    bool cut;                        // there is more below than `stack` has
    unsigned depth;
    struct WalkFrame stack[WALK_DEPTH]; // innermost first
};

// Where what a subject did is written down.
struct Ledger {
    struct Registry *registry;
    struct Edges *edges;  // callers of dark code, for the hooks' side
    struct Flame *flame;  // or NULL
    size_t code_bytecode; // in PyCodeObject: co_code_adaptive
    uint32_t stamp;       // of the newest credit
};

// The unit of an instruction that a frame of that code is at, or UINT32_MAX: it
// is none of its instructions.
uint32_t Ledger_unit(const struct Ledger *ledger, const struct Code *code,
                     const struct WalkFrame *frame);

enum SubjectLook {
    SUBJECT_NEW,  // first seen, or its clock was replaced: a baseline only
    SUBJECT_IDLE, // has not run since the look before: its stack stands
    SUBJECT_RAN,  // its stack is to be walked
    SUBJECT_GONE  // the thread has ended
};

void Subject_init(struct Subject *subject, uintptr_t state, pid_t tid);
// Reads its clocks. `now` is ns since the sampler's start.
enum SubjectLook Subject_look(struct Subject *subject,
                              const struct SampleClock *clock, double now);
// After a look that said SUBJECT_RAN and came late, since everything had stood
// still: what it did not run it waited, on the stack that it had. Credited with
// DOING_IDLED, before the walk; what it ran, with the others, after that.
void Subject_woke(struct Subject *subject);
// Nobody looked at it for a while: the next look is a baseline again.
void Subject_forget(struct Subject *subject);
// How much of the time since it has run, right after a look that said
// SUBJECT_RAN: 0 to 1.
double Subject_ran_part(const struct Subject *subject,
                        const struct SampleClock *clock);
// Whether that may be since it waits for a CPU: where it hardly ever does, it
// is asleep. Asks the kernel every few seconds.
bool Subject_is_crowded(struct Subject *subject, double now);
// Asks the kernel what a thread does whose clock stands: DOING_RAN if it could
// run and we are on its CPU, which we took away from it at a moment of our
// choosing; DOING_READY if others are; else DOING_WAITED. Some 3 us, and 20
// where the caches are cold.
enum SubjectDoing Subject_ask(const struct Subject *subject);
// Whether it has slept since this was asked last, or that is not known. As
// dear.
bool Subject_slept(struct Subject *subject);
// `newest_id` is the registry's from before the walk: code that has come to one
// of the addresses since is not what was seen there.
void Subject_set_stack(struct Subject *subject, const struct Walk *walk,
                       uint32_t newest_id, struct SubjectTop top);
// Credits the time since the look before (DOING_IDLED: all the time it idled)
// to the functions on its stack: to the innermost that the registry knows, and
// to every distinct one as `under`, there shared out to the callers of its
// outermost frame. Returns the ns it *ran* with something else on top of the
// stack.
double Subject_credit(struct Subject *subject, enum SubjectDoing doing,
                      struct Ledger *ledger, double now);

#endif
