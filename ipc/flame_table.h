// SPDX-License-Identifier: MIT
// A flame table has the stacks of the sampler's window, for the flame view. The
// table is a tree. A row is a function with one path of callers, and the row's
// parent is the caller. tracer/sample/flame.c builds the table, the server
// sends the table to a viewer, and the flame view draws the table. A finished
// table never changes.
#ifndef OCULAR_IPC_FLAME_TABLE_H
#define OCULAR_IPC_FLAME_TABLE_H

#include "ipc/base/arena.h"
#include "ipc/record.h"

struct FlameRow {
    uint64_t parent; // number of an earlier row; null: this is the root
    // Of the function; null: the root, or the cut-off part of stacks.
    uint64_t id;
    // Part of one core's wall time for which this row was on top of the stack.
    double share;
    // Part of `share` that was spent in C functions called by this function.
    double c_share;
    // cpu_ns is the CPU time in ns for which this row was on top of the stack
    // since the sampler began. c_ns is the part of cpu_ns in C functions. The
    // CPU time of a dropped path is added to the path's caller.
    uint64_t cpu_ns;
    uint64_t c_ns;
};

struct FlameFunction {
    uint64_t id;
    const char *name; // name, file and line are null if the function is gone
    const char *file;
    uint64_t line;
};

struct FlameTable {
    // Seconds since the sampler began to keep stacks. The shares of stacks fade
    // in the same way as the shares of functions.
    double kept_s;
    uint64_t samples; // number of samples in the table
    // The root is the first row. The root's own time was spent outside the
    // functions that are listed.
    const struct FlameRow *rows;
    size_t row_count;
    const struct FlameFunction *functions; // sorted by id
    size_t function_count;
    struct Arena arena;
};

extern const struct Record FLAME_TABLE_RECORD;

// Returns an empty table, in which every member is null, or NULL if memory is
// out.
struct FlameTable *FlameTable_new(void);
void FlameTable_free(struct FlameTable *table); // NULL is fine

#endif
