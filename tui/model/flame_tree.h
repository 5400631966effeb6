// SPDX-License-Identifier: MIT
// A flame table as a tree: totals, children in a fixed order, and branches that
// are found again by their path in the next table. It checks what the process
// sends. Used by the flame view and by calls.c. One thread.
#ifndef OCULAR_TUI_MODEL_FLAME_TREE_H
#define OCULAR_TUI_MODEL_FLAME_TREE_H

#include "ipc/flame_table.h"
#include "tui/model/history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_DEPTH 160   // the share of a deeper row counts for its caller
#define FLAME_MOST 65536u // further rows are ignored

struct FlameBranch { // index 0 is the root: all threads
    uint32_t parent;
    uint32_t child;   // 0: none
    uint32_t sibling; // the next child of the parent, by name; 0: none
    int depth;        // the root's is 0
    uint64_t id;      // NULL_U64: the root, or a stack cut off below
    const char *name; // not trusted, never NULL
    const char *file; // or NULL
    uint64_t line;
    double self; // share of a core, without children
    double in_c;
    double total; // share of a core, with all below
};

struct FlameShare { // of a core
    double self;
    double in_c;
};

struct FlameTree { // zeroed: none
    struct FlameTable *table;
    struct FlameBranch *branches;
    size_t count;
};

struct FlamePath { // ids from below the root on
    uint64_t ids[FLAME_DEPTH];
    int depth;
};

// Takes the table over. 0; -EPROTO: the table is invalid, -ENOMEM; then the
// tree is as before.
int FlameTree_take(struct FlameTree *tree, struct FlameTable *table);
// Gives the same table other shares, one a row; NULL: those that it came with.
// 0, or -ENOMEM: the tree is as before.
int FlameTree_weigh(struct FlameTree *tree, const struct FlameShare *shares);
void FlameTree_release(struct FlameTree *tree);

// Returns the table's CPU times in ns since the start, one a row, each by a
// hash of its path; for Moment_release. Without totals: the process sends none,
// or there is no memory.
struct Moment FlameTree_moment(const struct FlameTree *tree);
// Returns the shares of the rows between two moments, for the caller to free.
// NULL: no time has passed, nothing is known, or there is no memory.
struct FlameShare *FlameShares_since(const struct Moment *then,
                                     const struct Moment *now);

// Returns the branch that the path leads to, as far as it exists. `whole`: all
// of it does.
uint32_t FlameTree_find(const struct FlameTree *tree,
                        const struct FlamePath *path, bool *whole);
void FlameTree_path(const struct FlameTree *tree, uint32_t branch,
                    struct FlamePath *path);
// Returns the child with the largest total, or 0.
uint32_t FlameTree_hottest(const struct FlameTree *tree, uint32_t branch);
// Returns the branch after it (step 1) or before it (-1) on a walk through all:
// callers first, then by name, and round at the ends.
uint32_t FlameTree_next(const struct FlameTree *tree, uint32_t branch,
                        int step);
bool FlameTree_is_below(const struct FlameTree *tree, uint32_t branch,
                        uint32_t above); // true if they are the same, too

#endif
