// SPDX-License-Identifier: MIT
// The cost of functions whose code objects are gone: one entry for each name
// and place, for all objects that have had them. Bounded: when it is full, the
// least entry is folded into the one of all others, so that sums stay whole.
// Under Session.draining.
#ifndef OCULAR_TRACER_CODE_RETIRED_H
#define OCULAR_TRACER_CODE_RETIRED_H

#include "tracer/code/code.h"

#define RETIRED_ROOM 256

struct RetiredTotals {
    uint64_t objects;
    uint64_t calls;
    uint64_t resumed; // times that one of them went on
    uint64_t events;
    uint64_t self_calls; // calls in self_cycles and waited_cycles
    uint64_t self_cycles;
    uint64_t total_cycles;
    uint64_t waited_cycles;
    uint64_t cpu_ns; // sampled
    uint64_t samples;
    uint64_t run_samples; // of these: it had CPU time then
    bool inexact; // one of them at least has been dark: calls are a floor
};

struct RetiredFunction {
    char *name; // qualified
    char *file;
    uint32_t line;
    uint32_t id; // of the code object that was added last
    struct RetiredTotals totals;
};

struct Retired {
    struct RetiredFunction functions[RETIRED_ROOM];
    uint64_t hashes[RETIRED_ROOM]; // of who they are
    size_t count;
    struct RetiredTotals others; // folded
    uint64_t events;             // of all
    size_t bytes;                // of the names
};

void Retired_release(struct Retired *retired);
// Adds the counts of a code object. If memory is out, to the others.
void Retired_add(struct Retired *retired, const struct Code *code);
// The function whose newest code object had that id; NULL: not known.
const struct RetiredFunction *Retired_find(const struct Retired *retired,
                                           uint32_t id);
const char *Retired_name(const struct Retired *retired, uint32_t id);

#endif
