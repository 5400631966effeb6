// SPDX-License-Identifier: MIT
// A flame table as the viewer walks through it: totals, children in a steady
// order, places found again by their path after the next table has come. Knows
// no screen. What a process sends is checked here. One thread.
#ifndef OCULAR_TUI_MODEL_FLAME_TREE_H
#define OCULAR_TUI_MODEL_FLAME_TREE_H

#include "ipc/flame_table.h"
#include "tui/model/history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_DEPTH 160   // rows that are deeper count for those above
#define FLAME_MOST 65536u // rows that are taken at all

struct FlameBranch { // 0 is the root: all threads
    uint32_t parent;
    uint32_t child;   // 0: none
    uint32_t sibling; // the next by name, 0: none
    int depth;        // the root's is 0
    uint64_t id;      // NULL_U64: the root, or stacks cut off below
    const char *name; // a stranger's, never NULL
    const char *file; // or NULL
    uint64_t line;
    double self; // shares of a core
    double in_c;
    double total; // with all that is below
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

struct FlamePath { // from below the root
    uint64_t ids[FLAME_DEPTH];
    int depth;
};

// Takes the table over. 0; -EPROTO: it is none, -ENOMEM: the tree is as before.
int FlameTree_take(struct FlameTree *tree, struct FlameTable *table);
// The same table with other shares, one a row; NULL: those that it came with. 0
// or -ENOMEM: the tree is as before.
int FlameTree_weigh(struct FlameTree *tree, const struct FlameShare *shares);
void FlameTree_release(struct FlameTree *tree);

// The table's CPU times in ns since the start, one a row, each by a hash of its
// path; for Moment_release. No totals: the process sends none, or no memory.
struct Moment FlameTree_moment(const struct FlameTree *tree);
// The shares of the rows between the two, for the caller to free. NULL: no time
// has gone by, nothing is known, or no memory.
struct FlameShare *FlameShares_since(const struct Moment *then,
                                     const struct Moment *now);

// Where the path leads to, as far as it exists. `whole`: it all does.
uint32_t FlameTree_find(const struct FlameTree *tree,
                        const struct FlamePath *path, bool *whole);
void FlameTree_path(const struct FlameTree *tree, uint32_t branch,
                    struct FlamePath *path);
// The child with the largest total, or 0.
uint32_t FlameTree_hottest(const struct FlameTree *tree, uint32_t branch);
// The one after it (step 1) or before it (-1) on a walk through all: callers
// first, then by name, and around at the ends.
uint32_t FlameTree_next(const struct FlameTree *tree, uint32_t branch,
                        int step);
bool FlameTree_is_below(const struct FlameTree *tree, uint32_t branch,
                        uint32_t above); // or the same

#endif
