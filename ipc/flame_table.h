// SPDX-License-Identifier: MIT
// The stacks of the sampler's window, as a process sends them to a viewer that
// shows them. The table is a tree: each row is a function that was called by
// way of the rows above it. tracer/sample/flame.c builds the table, the wire
// carries it, and the flame view draws it. A table does not change once it is
// built.
#ifndef OCULAR_IPC_FLAME_TABLE_H
#define OCULAR_IPC_FLAME_TABLE_H

#include "ipc/base/arena.h"
#include "ipc/record.h"

struct FlameRow {
    uint64_t parent; // number of an earlier row; null: this is the root
    uint64_t id;     // of the function; null: the root, or stacks cut off below
    // Part of one core's wall time in which this row ran on top of the stack.
    double share;
    // Part of `share` that was spent in C functions called by this function.
    double c_share;
    // CPU ns since the sampler began: cpu_ns of this row on top of the stack,
    // and c_ns of these in C functions. The CPU time of a path that was dropped
    // counts for the path's caller.
    uint64_t cpu_ns;
    uint64_t c_ns;
};

struct FlameFunction {
    uint64_t id;
    const char *name; // null, as file and line, if the function is gone
    const char *file;
    uint64_t line;
};

struct FlameTable {
    // Seconds since the sampler began to keep stacks. The shares of stacks fade
    // as the shares of functions do.
    double kept_s;
    uint64_t samples; // number of samples in the table
    // The root is the first row; its time was spent in no listed function.
    const struct FlameRow *rows;
    size_t row_count;
    const struct FlameFunction *functions; // sorted by id
    size_t function_count;
    struct Arena arena;
};

extern const struct Record FLAME_TABLE_RECORD;

// Returns an empty table, every member null, or NULL if memory is out.
struct FlameTable *FlameTable_new(void);
void FlameTable_free(struct FlameTable *table); // NULL is fine

#endif
