// SPDX-License-Identifier: MIT
// A share of time broken down into the largest few and the rest: a function's
// by its callers, a thread's by its functions. While all parts are taken, a new
// one replaces the smallest. The sampler writes, anyone reads.
#ifndef OCULAR_TRACER_SAMPLE_BREAKDOWN_H
#define OCULAR_TRACER_SAMPLE_BREAKDOWN_H

#include "tracer/base/share.h"

#include <stdbool.h>
#include <stddef.h>

#define BREAKDOWN_PARTS 12
#define BREAKDOWN_ROWS (BREAKDOWN_PARTS + 1)

struct BreakdownPart {
    counter_t id; // a function's; 0 = free
    struct ShareValue time;
    uint32_t seen; // samples since it has this part
    bool reported; // free for whoever adds
};

struct Breakdown {
    struct BreakdownPart parts[BREAKDOWN_PARTS];
    struct ShareValue others;
};

struct BreakdownRow {
    uint32_t id; // 0: the others
    double share;
};

// The part that was credited; NULL for id 0, which is the others'.
struct BreakdownPart *Breakdown_add(struct Breakdown *breakdown, uint32_t id,
                                    const struct ShareTime *now,
                                    struct ShareCredit *credit);
// The shares in the window, the largest first, the others last; not those that
// are 0. Returns how many rows, up to BREAKDOWN_ROWS.
size_t Breakdown_read(const struct Breakdown *breakdown,
                      const struct ShareTime *now, struct BreakdownRow *rows);
// The same since the start: a row's share is the ns of its part.
size_t Breakdown_totals(const struct Breakdown *breakdown,
                        struct BreakdownRow *rows);

#endif
