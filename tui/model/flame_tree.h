// SPDX-License-Identifier: MIT
// A flame table as a tree: totals, children in a fixed order, and paths by
// which a branch is found again in the next table. The tree's functions
// validate the data of the process. Used by the flame view and by calls.c. One
// thread.
#ifndef OCULAR_TUI_MODEL_FLAME_TREE_H
#define OCULAR_TUI_MODEL_FLAME_TREE_H

#include "ipc/flame_table.h"
#include "tui/model/history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_DEPTH 160   // the share of a deeper row is added to its caller
#define FLAME_MOST 65536u // largest number of rows; further rows are ignored

struct FlameBranch { // index 0 is the root, which stands for all threads
    uint32_t parent;
    uint32_t child;   // index of the first child; 0: none
    uint32_t sibling; // the next child of the parent, by name; 0: none
    int depth;        // level in the tree; the root has 0
    // id of the function; NULL_U64: the root, or a stack that was cut off
    uint64_t id;
    const char *name; // the function's name; not trusted; never NULL
    const char *file; // path of the function's file; NULL: not known
    uint64_t line;
    double self; // share of a core, without callees
    double in_c;
    double total; // share of a core, including callees
};

struct FlameShare { // the shares of one branch, as parts of a core
    double self;
    double in_c;
};

struct FlameTree { // a zeroed struct is no tree
    struct FlameTable *table;
    struct FlameBranch *branches;
    size_t count;
};

struct FlamePath { // ids of the branches from below the root on
    uint64_t ids[FLAME_DEPTH];
    int depth;
};

// Takes over the table. Returns 0, -EPROTO for an invalid table, or -ENOMEM.
// After an error the tree is unchanged.
int FlameTree_take(struct FlameTree *tree, struct FlameTable *table);
// Replaces the shares of the tree with `shares`, one for each row of the table;
// NULL: the table's own shares. Returns 0, or -ENOMEM with the tree unchanged.
int FlameTree_weigh(struct FlameTree *tree, const struct FlameShare *shares);
void FlameTree_release(struct FlameTree *tree);

// Returns the table's CPU times in ns since the start, one total for each row,
// with a hash of the row's path as its key. The moment has no totals if the
// process does not send them or there is no memory. The caller calls
// Moment_release.
struct Moment FlameTree_moment(const struct FlameTree *tree);
// Returns the shares of the rows between two moments, for the caller to free.
// Returns NULL if no time has passed, there are no totals, or there is no
// memory.
struct FlameShare *FlameShares_since(const struct Moment *then,
                                     const struct Moment *now);

// Returns the last existing branch on the path. Sets *whole if the whole path
// exists.
uint32_t FlameTree_find(const struct FlameTree *tree,
                        const struct FlamePath *path, bool *whole);
void FlameTree_path(const struct FlameTree *tree, uint32_t branch,
                    struct FlamePath *path);
// Returns the child with the largest total, or 0.
uint32_t FlameTree_hottest(const struct FlameTree *tree, uint32_t branch);
// Returns the branch after `branch` (step 1) or before it (step -1) in a walk
// through the tree. A caller comes before its callees, which are sorted by
// name. The walk wraps around at the ends.
uint32_t FlameTree_next(const struct FlameTree *tree, uint32_t branch,
                        int step);
// Returns true if `branch` is below `above` or is the same branch.
bool FlameTree_is_below(const struct FlameTree *tree, uint32_t branch,
                        uint32_t above);

#endif
