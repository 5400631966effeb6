// SPDX-License-Identifier: MIT
// The sampled stacks of a whole run as other tools have them: functions, and
// stacks of their numbers. Pure functions, on any thread.
#ifndef OCULAR_FORMATS_PROFILE_H
#define OCULAR_FORMATS_PROFILE_H

#include "ipc/base/bytes.h"
#include "ipc/flame_table.h"
#include "tracer/timeline/formats.h"

struct ProfileRow {
    uint32_t parent; // an earlier row; 0: this row is the outermost
    uint32_t function;
    uint64_t ns; // CPU time with this stack on top
};

struct Profile {
    // The functions of the table in their order, and three more: for stacks
    // that were cut off below, for time in no traced function, and for callees
    // that have no row in the table.
    struct ProfileFunction *functions;
    size_t function_count;
    // The rows of the table, then those of callees that have no row in it.
    struct ProfileRow *rows;
    size_t row_count;
    uint64_t samples;
    uint64_t start_unix_ns;
    uint64_t duration_ns;
    const char *command;
};

// Makes the profile of a table, which the caller keeps. Missing names are
// "<gone>" until the caller sets them. Returns 0 or -ENOMEM.
int Profile_init(struct Profile *profile, const struct FlameTable *table);
// Merges code objects of one name and place into one function and adds up their
// calls. Call this after names and calls are set.
void Profile_merge(struct Profile *profile);
// Corrects a full table, which counts its smallest rows as time of their
// callers. If a function's rows have more time than its own `self_ns`, the rest
// goes to a new row below each of its rows. Call this after Profile_merge.
void Profile_divide(struct Profile *profile);
void Profile_release(struct Profile *profile);

// Stores the functions of a row's stack, innermost first, and returns their
// number. `stack` has room for PROFILE_DEPTH, which is more than the sampler
// reads.
size_t Profile_stack(const struct Profile *profile, size_t row,
                     uint32_t *stack);
#define PROFILE_DEPTH 1024

#endif
