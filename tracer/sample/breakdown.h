// SPDX-License-Identifier: MIT
// struct Breakdown divides a share of time into its largest parts and the rest.
// A function's share is divided by its callers, and a thread's share by
// functions. If all parts are taken, a new part replaces the smallest one. The
// sampler's thread writes the parts, and any thread may read them.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/base/share.h"

#include <stdbool.h>
#include <stddef.h>

#define BREAKDOWN_PARTS 12
#define BREAKDOWN_ROWS (BREAKDOWN_PARTS + 1)

struct BreakdownPart {
    // Id of the function that has this part of the share, or 0 if the part is
    // free.
    counter_t id;
    struct ShareValue time;
    // Number of samples since this part was given to the function.
    uint32_t seen;
    // A mark for the caller of Breakdown_add, which no other code uses.
    bool reported;
};

struct Breakdown {
    struct BreakdownPart parts[BREAKDOWN_PARTS];
    struct ShareValue others;
};

// Credits time to the part of the function with this id, and returns the part.
// If `id` is 0, credits the time to `others` and returns NULL.
struct BreakdownPart *Breakdown_add(struct Breakdown *breakdown, uint32_t id,
                                    const struct ShareTime *now,
                                    struct ShareCredit *credit);
// Writes to `rows` all shares of the newest seconds, except those that are 0.
// If `now` is NULL, writes the ns since the start instead. The largest part
// comes first, and `others` comes last. Returns the number of rows written, at
// most BREAKDOWN_ROWS.
size_t Breakdown_read(const struct Breakdown *breakdown,
                      const struct ShareTime *now, struct Caller *rows);
// Returns the shares of the newest seconds as a list in the arena, whose length
// is stored in *count. Returns NULL if the list is empty.
const struct Caller *Breakdown_list(const struct Breakdown *breakdown,
                                    const struct ShareTime *now,
                                    struct Arena *arena, size_t *count);
