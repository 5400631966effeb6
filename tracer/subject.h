// SPDX-License-Identifier: MIT
// One Python thread as the sampler sees it: its CPU clock, the stack it had
// when it last ran, and what it did since. Only the sampler's thread changes
// it; its shares may be read by anyone.
#ifndef OCULAR_TRACER_SUBJECT_H
#define OCULAR_TRACER_SUBJECT_H

#include "tracer/edges.h"
#include "tracer/registry.h"
#include "tracer/split.h"
#include "tracer/walk.h"

#include <sys/types.h>

enum SubjectDoing {
    DOING_RAN,    // at the newest look it was running
    DOING_READY,  // ... it was waiting for a CPU
    DOING_WAITED, // ... it was not
    DOING_IDLED   // and had not been since the look before
};

struct Subject {
    uintptr_t state; // PyThreadState; with tid: who it is
    pid_t tid;
    char name[64]; // guarded by the sampler's lock
    struct ShareValue cpu;
    struct ShareValue wait;
    cell_t samples;
    struct Split functions; // of its CPU time

    bool known;         // seen before: there is a time since then
    bool walked;        // stack is as it was when it last ran
    uint64_t cpu_ns;    // its CPU clock at the newest look
    uint64_t before_ns; // the same, at the look before
    uint64_t wall_ns;   // CLOCK_MONOTONIC at the newest
    double since_ns;    // from the look before to the newest
    double idle_ns;     // it idled, not credited yet
    bool woke;          // the newest look was a late one: see Subject_woke
    // Of the last ten seconds or so: what it ran by its clock, and what looks
    // saw of it running and waiting for a CPU.
    double ran_ns;
    double seen_ns;
    double ready_ns;
    double owed_ns;     // CPU time that nothing has been credited with yet
    uint32_t newest_id; // code adopted later is not on the stack
    bool in_c;          // called by the frame on top
    bool cut;           // there is more below than `stack` has
    unsigned depth;
    struct WalkFrame stack[WALK_DEPTH]; // innermost first
};

// Where what a subject did is written down.
struct Ledger {
    struct Registry *registry;
    struct Edges *edges;  // callers of dark code, for the hooks' side
    size_t code_bytecode; // in PyCodeObject: co_code_adaptive
    uint32_t stamp;       // of the newest credit
};

enum SubjectLook {
    SUBJECT_NEW,  // first seen, or its clock was replaced: a baseline only
    SUBJECT_IDLE, // has not run since the look before: its stack stands
    SUBJECT_RAN,  // its stack is to be walked
    SUBJECT_GONE  // the thread has ended
};

void Subject_init(struct Subject *subject, uintptr_t state, pid_t tid);
// Reads its clocks. `now` is ns since the sampler's start.
enum SubjectLook Subject_look(struct Subject *subject, double now);
// After a look that said SUBJECT_RAN and came late, since everything had stood
// still: what it did not run it waited, on the stack that it had. Credited with
// DOING_IDLED, before the walk; what it ran, with the others, after that.
void Subject_woke(struct Subject *subject);
// Nobody looked at it for a while: the next look is a baseline again.
void Subject_forget(struct Subject *subject);
// Whether it is running, right after a look that said SUBJECT_RAN: its clock
// has moved on.
bool Subject_runs(const struct Subject *subject);
// Whether it would, if only it had a CPU (we may be on it). About 3 us.
bool Subject_could_run(const struct Subject *subject);
// `newest_id` is the registry's from before the walk: code that has come to one
// of the addresses since is not what was seen there. `in_c`: the frame on top
// had called a C function.
void Subject_set_stack(struct Subject *subject, const struct Walk *walk,
                       uint32_t newest_id, bool in_c);
// Credits the time since the look before (DOING_IDLED: all the time it idled)
// to the functions on its stack: to the innermost that the registry knows, and
// to every distinct one as `under`, there shared out to the callers of its
// outermost frame. Returns the ns it *ran* with something else on top of the
// stack.
double Subject_credit(struct Subject *subject, enum SubjectDoing doing,
                      struct Ledger *ledger, double now);

#endif
