// SPDX-License-Identifier: MIT
// Holds the sampled stacks of a whole run in the form that writers for other
// tools need. A profile is a list of functions, and stacks, each of which is a
// list of indices of functions.
#pragma once

#include "ipc/base/bytes.h"
#include "ipc/flame_table.h"

struct ProfileFunction {
    const char *name; // Name of the function, never NULL.
    const char *file; // Path of the file, or "" if there is no file.
    uint64_t line;    // Number of the function's first line, or 0 if unknown.
    double calls;     // Number of calls, or NaN if unknown.
    // ns of CPU time of all samples of the function, or NaN if unknown.
    double self_ns;
};

struct ProfileRow {
    // Index of the caller's row, which is lower, or 0 if this row is the
    // outermost frame.
    uint32_t parent;
    uint32_t function;
    // ns of CPU time that was sampled with the stack that ends in this row.
    uint64_t ns;
};

struct Profile {
    // The functions of the table of stacks in the same order, followed by three
    // extra functions. The three extra functions stand for missing outer frames
    // of stacks that were cut off, for time in no traced function, and for
    // callees without a row in the table.
    struct ProfileFunction *functions;
    size_t function_count;
    // The rows of the table of stacks, followed by the rows of callees without
    // a row in the table.
    struct ProfileRow *rows;
    size_t row_count;
    // The waits of the rows, borrowed from the table of stacks.
    const struct FlameWait *waits;
    size_t wait_count;
    uint64_t samples;
    uint64_t start_unix_ns;
    uint64_t duration_ns;
    const char *command;
};

// Makes the profile of a table of stacks. The caller still owns the table.
// Every function has the name "<gone>" until the caller sets the names. Returns
// 0 or -ENOMEM.
int Profile_init(struct Profile *profile, const struct FlameTable *table);
// Merges code objects with the same name, file and line into one function and
// adds up their calls. Profile_merge must be called after the names and the
// calls are set.
void Profile_merge(struct Profile *profile);
// If the table of stacks is full, the time of its smallest rows is counted as
// time of the callers. Profile_divide moves that time away from the callers. If
// the rows of a function have more time than the function's `self_ns`, the rest
// is moved to new rows, which are callees of the function's rows.
// Profile_divide must be called after Profile_merge.
void Profile_divide(struct Profile *profile);
void Profile_release(struct Profile *profile);

// Returns the name for waits of one kind (enum WaitKind) in the written files.
const char *Profile_wait_name(unsigned kind);
// Stores the functions of the stack that ends in a row, innermost first, and
// returns the number of functions. `stack` must have PROFILE_DEPTH elements,
// which is more than the largest number of frames that the sampler reads.
size_t Profile_stack(const struct Profile *profile, size_t row,
                     uint32_t *stack);
#define PROFILE_DEPTH 1024
