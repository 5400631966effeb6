// SPDX-License-Identifier: MIT
// A function's row in a snapshot: what its counters say at one moment, and what
// follows from them. The builder calls it, inside an RCU read section.
#ifndef OCULAR_TRACER_SESSION_FUNCTION_ROW_H
#define OCULAR_TRACER_SESSION_FUNCTION_ROW_H

#include "ipc/snapshot.h"
#include "tracer/code/code.h"

struct Session;

// What the functions' figures are computed with.
struct Moment {
    struct Session *session;
    double now;                      // s of CLOCK_MONOTONIC
    double started;                  // the same, when the trace began
    double hz;                       // ticks a second
    uint64_t ticks;                  // now
    const struct ShareTime *sampled; // NULL without a sampler
    bool sees;                       // there is one, and it can read
};

// Also adds it to what the snapshot counts of all. false: memory is out.
bool FunctionRow_fill(struct Snapshot *snapshot, struct Function *f,
                      struct Code *code, const struct Moment *at);

#endif
