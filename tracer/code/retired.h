// SPDX-License-Identifier: MIT
// Holds the totals of functions whose code objects were freed. Code objects
// with the same name, file and line share one entry. If the list is full, the
// entry with the smallest totals is removed and added to `others`, so that sums
// stay complete. The caller of the functions of retired.h holds
// Session.draining.
#pragma once

#include "tracer/code/code.h"

#define RETIRED_ROOM 256

struct RetiredTotals {
    uint64_t objects;
    uint64_t calls;
    uint64_t resumed; // Number of resumptions.
    uint64_t events;
    // Number of calls whose ticks are in self_cycles and waited_cycles.
    uint64_t self_calls;
    uint64_t self_cycles;
    uint64_t total_cycles;
    uint64_t waited_cycles;
    uint64_t cpu_ns; // Sampled CPU time in ns.
    uint64_t samples;
    // Number of samples in `samples` in which the function was running.
    uint64_t run_samples;
    // True if at least one of the code objects was ever without hooks (dark),
    // so that `calls` is a lower bound.
    bool inexact;
};

struct RetiredFunction {
    char *name; // qualified name.
    char *file;
    uint32_t line;
    uint32_t id; // Id of the newest code object of this entry.
    struct RetiredTotals totals;
};

struct Retired {
    struct RetiredFunction functions[RETIRED_ROOM];
    // Hash of name, file and line for each entry.
    uint64_t hashes[RETIRED_ROOM];
    size_t count;
    struct RetiredTotals others; // Sum of the totals of removed entries.
    uint64_t events;             // Number of events of all code objects.
};

void Retired_release(struct Retired *retired);
// Adds the totals of a code object to the entry of its function, or to `others`
// if memory is out.
void Retired_add(struct Retired *retired, const struct Code *code);
// Returns the function whose newest code object had the id `id`, or NULL.
const struct RetiredFunction *Retired_find(const struct Retired *retired,
                                           uint32_t id);
const char *Retired_name(const struct Retired *retired, uint32_t id);
