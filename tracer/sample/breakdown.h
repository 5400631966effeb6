// SPDX-License-Identifier: MIT
// Breaks a share of time down into its largest parts and the rest. The parts of
// a function's share are its callers, and the parts of a thread's share are
// functions. If all parts are taken, a new part replaces the smallest. The
// sampler writes the parts, and any thread may read them.
#ifndef OCULAR_TRACER_SAMPLE_BREAKDOWN_H
#define OCULAR_TRACER_SAMPLE_BREAKDOWN_H

#include "tracer/base/share.h"

#include <stdbool.h>
#include <stddef.h>

#define BREAKDOWN_PARTS 12
#define BREAKDOWN_ROWS (BREAKDOWN_PARTS + 1)

struct BreakdownPart {
    counter_t id; // id of a function; 0 if the part is free
    struct ShareValue time;
    uint32_t seen; // number of samples since the id got this part
    bool reported; // The caller of Breakdown_add may use this field freely
};

struct Breakdown {
    struct BreakdownPart parts[BREAKDOWN_PARTS];
    struct ShareValue others;
};

struct BreakdownRow {
    uint32_t id; // id of a function; 0 for the sum of all other parts
    double share;
};

// Credits the part of `id` and returns this part. Returns NULL for id 0, which
// credits `others`.
struct BreakdownPart *Breakdown_add(struct Breakdown *breakdown, uint32_t id,
                                    const struct ShareTime *now,
                                    struct ShareCredit *credit);
// Writes the shares in the window that are not 0 into `rows`. The largest share
// comes first, and `others` comes last. Returns the number of rows, at most
// BREAKDOWN_ROWS.
size_t Breakdown_read(const struct Breakdown *breakdown,
                      const struct ShareTime *now, struct BreakdownRow *rows);
// Writes the ns of the parts since the start in the same order. The `share` of
// a row then holds ns. Returns the number of rows.
size_t Breakdown_totals(const struct Breakdown *breakdown,
                        struct BreakdownRow *rows);

#endif
