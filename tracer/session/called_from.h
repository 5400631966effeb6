// SPDX-License-Identifier: MIT
// The callers of a function, for the report: each caller's part of the time
// that samples found in the function and its callees, over the whole run.
#ifndef OCULAR_TRACER_SESSION_CALLED_FROM_H
#define OCULAR_TRACER_SESSION_CALLED_FROM_H

#include "ipc/base/bytes.h"
#include "tracer/code/registry.h"
#include "tracer/code/retired.h"
#include "tracer/sample/breakdown.h"

struct CallerPart {
    const char *name;
    double part; // 0 to 1
};

// All zero if no sample has found the function.
struct CalledFrom {
    struct CallerPart callers[BREAKDOWN_PARTS]; // the largest first
    size_t count;
    // Part of callers whose name is lost, which the breakdown has no room for,
    // or which a cut-off stack does not show.
    double unknown;
    double untraced; // part without any traced caller
};

// Reads the callers of `code`. The caller holds the GIL, and the collector has
// ended. The names belong to the registry and to `retired`.
void CalledFrom_init(struct CalledFrom *from, const struct Code *code,
                     struct Registry *registry, const struct Retired *retired);
// Writes "    time by caller: one 62%, other 30%", or nothing if no sample has
// found a caller. Names are cut so that no line exceeds 80 columns.
void CalledFrom_write(struct Bytes *out, const struct CalledFrom *from);

#endif
