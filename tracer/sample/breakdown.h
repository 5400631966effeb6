// SPDX-License-Identifier: MIT
// Divides a share of time into its largest parts and the rest. The parts of a
// function's share are its callers, and the parts of a thread's share are
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
    bool reported; // only the caller of Breakdown_add uses this field
};

struct Breakdown {
    struct BreakdownPart parts[BREAKDOWN_PARTS];
    struct ShareValue others;
};

struct BreakdownRow {
    uint32_t id; // id of a function; 0 for the sum of all other parts
    double share;
};

// Credits the part of `id` and returns this part. For id 0 the function credits
// `others` and returns NULL.
struct BreakdownPart *Breakdown_add(struct Breakdown *breakdown, uint32_t id,
                                    const struct ShareTime *now,
                                    struct ShareCredit *credit);
// Writes the shares in the window that are not 0 into `rows`. The largest share
// comes first, and `others` comes last. Returns the number of rows, at most
// BREAKDOWN_ROWS.
size_t Breakdown_read(const struct Breakdown *breakdown,
                      const struct ShareTime *now, struct BreakdownRow *rows);
// Writes the parts since the start into `rows`, the largest part first and
// `others` last. The field `share` of each row is set to the part's ns. Returns
// the number of rows.
size_t Breakdown_totals(const struct Breakdown *breakdown,
                        struct BreakdownRow *rows);

#endif
