// SPDX-License-Identifier: MIT
// A share split up by whose it is: a function's by its callers, a thread's by
// its functions. A few parts, the rest in one sum: who comes when all parts are
// taken gets the least one's. The sampler writes, anyone reads.
#ifndef OCULAR_TRACER_SAMPLE_SPLIT_H
#define OCULAR_TRACER_SAMPLE_SPLIT_H

#include "tracer/base/share.h"

#include <stdbool.h>
#include <stddef.h>

#define SPLIT_PARTS 12
#define SPLIT_ROWS (SPLIT_PARTS + 1)

struct SplitPart {
    cell_t id; // a function's; 0 = free
    struct ShareValue time;
    uint32_t seen; // samples since it has this part
    bool told;     // free for whoever adds
};

struct Split {
    struct SplitPart parts[SPLIT_PARTS];
    struct ShareValue others;
};

struct SplitRow {
    uint32_t id; // 0: the others
    double share;
};

// The part that was credited; NULL for id 0, which is the others'.
struct SplitPart *Split_add(struct Split *split, uint32_t id,
                            const struct ShareTime *now,
                            struct ShareCredit *credit);
// The shares in the window, the largest first, the others last; not those that
// are 0. Returns how many rows, up to SPLIT_ROWS.
size_t Split_read(const struct Split *split, const struct ShareTime *now,
                  struct SplitRow *rows);
// The same since the start: a row's share is the ns of its part.
size_t Split_totals(const struct Split *split, struct SplitRow *rows);

#endif
