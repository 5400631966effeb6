// SPDX-License-Identifier: MIT
// Holds the sampled stacks of a whole run in the form that other tools use.
// There is a list of functions, and each stack is a list of functions' numbers.
// The functions of this file are pure, and any thread may call them.
#ifndef OCULAR_FORMATS_PROFILE_H
#define OCULAR_FORMATS_PROFILE_H

#include "ipc/base/bytes.h"
#include "ipc/flame_table.h"

struct ProfileFunction {
    const char *name; // never NULL
    const char *file; // "" if there is no file
    uint64_t line;    // first line; 0 if unknown
    double calls;     // NaN if unknown
    double self_ns;   // CPU time of all its samples; NaN if unknown
};

struct ProfileRow {
    uint32_t parent; // an earlier row; 0: this row is the outermost
    uint32_t function;
    uint64_t ns; // CPU time with this stack on top
};

struct Profile {
    // The functions of the table in the table's order, and three more
    // functions. These stand for the missing outer frames of cut-off stacks,
    // for time in no traced function, and for callees that have no row in the
    // table.
    struct ProfileFunction *functions;
    size_t function_count;
    // The rows of the table, and then rows for callees that have no row in the
    // table.
    struct ProfileRow *rows;
    size_t row_count;
    uint64_t samples;
    uint64_t start_unix_ns;
    uint64_t duration_ns;
    const char *command;
};

// Makes the profile of a table. The caller keeps the table. All names are
// "<gone>" until the caller sets the names. Returns 0 or -ENOMEM.
int Profile_init(struct Profile *profile, const struct FlameTable *table);
// Merges code objects of one name and place into one function, and adds up the
// calls. Must be called after names and calls are set.
void Profile_merge(struct Profile *profile);
// A full table counts the time of its smallest rows as time of the callers, and
// this function corrects the callers' time. If a function's rows have more time
// than the function's `self_ns`, the rest goes to new rows, which are callees
// of the function's rows. Must be called after Profile_merge.
void Profile_divide(struct Profile *profile);
void Profile_release(struct Profile *profile);

// Stores the functions of a row's stack, innermost first, and returns the
// number of functions. `stack` must have PROFILE_DEPTH elements, which is more
// than the sampler reads.
size_t Profile_stack(const struct Profile *profile, size_t row,
                     uint32_t *stack);
#define PROFILE_DEPTH 1024

#endif
