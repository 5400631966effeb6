// SPDX-License-Identifier: MIT
// A flame table has the sampled stacks as a tree, for the flame view. A row is
// a function with one path of callers, and its parent is the row of its caller.
// tracer/sample/flame.c builds the table, the server sends the table to a
// viewer, and the flame view draws it. A finished table never changes.
#pragma once

#include "ipc/base/arena.h"
#include "ipc/record.h"
#include "ipc/wait_kind.h"

#include <stdbool.h>

struct FlameRow {
    // Number of the row of this function's caller, which comes before this row;
    // null for the root.
    uint64_t parent;
    // Id of the function; null for the root, and for outer frames that were cut
    // off.
    uint64_t id;
    // Part of one core's wall time in which this row's function was the
    // innermost one.
    double share;
    // Part of `share` in which C functions ran that this row's function had
    // called.
    double c_share;
    // cpu_ns is the CPU time, in ns since the sampler began, in which this
    // row's function was the innermost one. c_ns is the part of cpu_ns in which
    // C functions ran. If a row was dropped to save memory, its CPU time is in
    // the row of its caller.
    uint64_t cpu_ns;
    uint64_t c_ns;
};

// The time that threads waited in the function of one row, for one kind of
// wait.
struct FlameWait {
    uint64_t parent;  // Index of the function's row in the table.
    const char *kind; // WaitKind_name; null if unknown.
    // Waiting time as a part of one core's wall time, in the newest seconds.
    double share;
    uint64_t ns; // Waiting time in ns since the sampler began.
};

// A wait is also a node in the tree of stacks, below the node of the function
// that waits. The node of a wait has the id FLAME_WAIT_ID plus the kind of the
// wait. No function has the id of a wait's node.
#define FLAME_WAIT_ID 0xfffffff0u

// Returns the kind of the wait whose node has the id `id`, WAIT_UNKNOWN for a
// wait of an unknown kind, or -1 if `id` is not the id of a wait.
static inline int FlameWait_kind(uint64_t id)
{
    return id >= FLAME_WAIT_ID && id <= FLAME_WAIT_ID + WAIT_UNKNOWN
               ? (int)(id - FLAME_WAIT_ID)
               : -1;
}

// A C function on the machine's stack has an id from FLAME_NATIVE_ID on.
// FLAME_NATIVE_ID itself stands for unknown callers.
#define FLAME_NATIVE_ID 0xc0000000u

static inline bool FlameNative_is(uint64_t id)
{
    return id >= FLAME_NATIVE_ID && id < FLAME_WAIT_ID;
}

struct FlameFunction {
    uint64_t id;
    // The name, the file and the line are null if the function no longer
    // exists.
    const char *name;
    const char *file;
    uint64_t line;
    // Only for C functions, whose `file` is their library: the function's
    // address in this file, and the file's build id. The traced process does
    // not send a C function's name. The viewer reads the name of a C function
    // from the function's file.
    uint64_t address;
    const char *build;
};

struct FlameTable {
    // Seconds since the sampler began to keep stacks. The shares of stacks
    // decay in the same way as the shares of functions.
    double kept_s;
    uint64_t samples; // Number of samples from which the table was made.
    // The root is the first row. The root's own time is that of functions that
    // the table does not list.
    const struct FlameRow *rows;
    size_t row_count;
    // The table's functions, sorted by id.
    const struct FlameFunction *functions;
    size_t function_count;
    // A row has at most one wait of each kind.
    const struct FlameWait *waits;
    size_t wait_count;
    struct Arena arena;
};

extern const struct Record FLAME_TABLE_RECORD;

// Returns an empty table, in which every member is null, or NULL if there is no
// memory.
struct FlameTable *FlameTable_new(void);
void FlameTable_free(struct FlameTable *table); // `table` may be NULL.
