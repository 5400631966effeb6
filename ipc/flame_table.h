// SPDX-License-Identifier: MIT
// The stacks of the sampler's window, as a process sends them to a
// viewer that looks at them: a tree, each row one function called by way of the
// rows above it. tracer/sample/flame.c builds it, the wire carries it, the
// flame view draws it. Never changed once it is built.
#ifndef OCULAR_IPC_FLAME_TABLE_H
#define OCULAR_IPC_FLAME_TABLE_H

#include "ipc/base/arena.h"
#include "ipc/record.h"

struct FlameRow {
    uint64_t parent; // an earlier row's number; null: the root
    uint64_t id;     // the function's; null: the root, or stacks cut off below
    double share;    // of one core's wall time: running, itself on top
    double c_share;  // of that: in a C function that it had called
    uint64_t cpu_ns; // the same two since the sampler began, in ns; those of
    uint64_t c_ns;   // a path that was forgotten are its caller's
};

struct FlameFunction {
    uint64_t id;
    const char *name; // null, as the two below: it is gone
    const char *file;
    uint64_t line;
};

struct FlameTable {
    double kept_s;    // s since the sampler began, and so since stacks are
                      // kept; they fade as shares do
    uint64_t samples; // that went into it
    const struct FlameRow *rows; // the root first: what ran in none of them
    size_t row_count;
    const struct FlameFunction *functions; // of the rows, by id
    size_t function_count;
    struct Arena arena;
};

extern const struct Record FLAME_TABLE_RECORD;

// Empty, every member null. NULL when memory is out.
struct FlameTable *FlameTable_new(void);
void FlameTable_free(struct FlameTable *table); // NULL is fine

#endif
