// SPDX-License-Identifier: MIT
// The sampled stacks of a whole run as other tools have them: functions, and
// stacks of their numbers. Pure; any thread.
#ifndef OCULAR_FORMATS_PROFILE_H
#define OCULAR_FORMATS_PROFILE_H

#include "ipc/base/bytes.h"
#include "ipc/flame_table.h"
#include "tracer/timeline/formats.h"

struct ProfileRow {
    uint32_t parent; // an earlier row; 0: none, but of row 0 itself
    uint32_t function;
    uint64_t ns; // CPU time with that stack
};

struct Profile {
    // In the order of the table's functions, and three more: stacks that were
    // cut off below, time in no traced function, and callees that the table has
    // no rows of.
    struct ProfileFunction *functions;
    size_t function_count;
    struct ProfileRow *rows; // the table's, and those of such callees
    size_t row_count;
    uint64_t samples;
    uint64_t start_unix_ns;
    uint64_t duration_ns;
    const char *command;
};

// Makes the profile of a table. The table, and all that it points to, stays the
// caller's. Missing names are "<gone>", until the caller sets them. 0 or
// -ENOMEM.
int Profile_init(struct Profile *profile, const struct FlameTable *table);
// Code objects of one name and place become one function, whose calls are added
// up. Once names and calls are set.
void Profile_merge(struct Profile *profile);
// A table that is full counts its smallest rows as their callers. Time beyond a
// function's own goes to a row below each of its rows. After the merge; needs
// `self_ns`.
void Profile_divide(struct Profile *profile);
void Profile_release(struct Profile *profile);

// The functions on the row's stack, innermost first; their number. `stack` has
// room for PROFILE_DEPTH, which is more than the sampler reads.
size_t Profile_stack(const struct Profile *profile, size_t row,
                     uint32_t *stack);
#define PROFILE_DEPTH 1024

#endif
