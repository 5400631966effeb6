// SPDX-License-Identifier: MIT
// struct CalledFrom lists the callers of a function for the report. Each caller
// gets a part of the function's time, which is sampled over the whole run and
// includes the function's callees.
#pragma once

#include "ipc/base/bytes.h"
#include "tracer/code/registry.h"
#include "tracer/code/retired.h"
#include "tracer/sample/breakdown.h"

struct CallerPart {
    const char *name;
    double part; // The caller's part of the function's time, from 0 to 1.
};

// All fields are 0 if no sample has found the function.
struct CalledFrom {
    // The callers, the largest part first.
    struct CallerPart callers[BREAKDOWN_PARTS];
    size_t count;
    // Sum of the parts of callers that are not known by name. A caller is not
    // known by name if its name is lost, if there are too many callers, or if a
    // cut-off stack does not show the caller.
    double unknown;
    // Part of the function's time for which it had no traced caller.
    double untraced;
};

// Reads the callers of the function `code`. The caller holds the GIL, and the
// collector has stopped. The callers' names belong to the registry and to
// `retired`.
void CalledFrom_init(struct CalledFrom *from, const struct Code *code,
                     struct Registry *registry, const struct Retired *retired);
// Writes a text such as " time by caller: one 62%, other 30%". Writes nothing
// if no sample has found a caller. Names of functions are shortened so that no
// line exceeds 80 columns.
void CalledFrom_write(struct Bytes *out, const struct CalledFrom *from);
