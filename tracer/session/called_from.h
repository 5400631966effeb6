// SPDX-License-Identifier: MIT
// The callers of a function: each caller's part of the time that samples found
// in the function and in its callees, over the whole run. For the report.
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

// All zero: no sample has found the function.
struct CalledFrom {
    struct CallerPart callers[BREAKDOWN_PARTS]; // the largest first
    size_t count;
    double unknown;  // gone without a name, beyond the parts of the breakdown,
                     // or on a stack that was cut off
    double untraced; // no caller of the function was traced
};

// With the interpreter's lock held, and the collector ended. The names are the
// registry's and those of `retired`.
void CalledFrom_init(struct CalledFrom *from, const struct Code *code,
                     struct Registry *registry, const struct Retired *retired);
// "    time by caller: one 62%, other 30%", or nothing if no sample has
// found a caller. Names are cut so that a line has 80 columns at most.
void CalledFrom_write(struct Bytes *out, const struct CalledFrom *from);

#endif
