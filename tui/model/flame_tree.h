// SPDX-License-Identifier: MIT
// A flame tree is made from the sampled stacks that a process sends (struct
// FlameTable). A flame tree adds totals, a fixed order of children, and paths
// by which a branch is found again in the next table. FlameTree_take checks the
// data of the process.
#pragma once

#include "ipc/flame_table.h"
#include "tui/model/history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_DEPTH 160   // The share of a deeper row is added to its caller.
#define FLAME_MOST 65536u // Largest number of rows (further rows are ignored).

struct FlameBranch { // index 0 is the root, which stands for all threads
    uint32_t parent;
    uint32_t child;   // Index of the first child (0 = none).
    uint32_t sibling; // Next child of the same parent, by name (0 = none).
    int depth;        // Level in the tree (0 = the root).
    // Id of the function (NULL_U64 = the root, or a stack that was cut off), or
    // of the wait (FlameWait_kind).
    uint64_t id;
    const char *name; // The function's name, not trusted and never NULL.
    const char *file; // Path of the function's file (NULL = unknown).
    uint64_t line;
    double self; // share of a core, without callees
    double in_c;
    double total; // share of a core, including callees
};

// Which times the boxes of a flame graph show.
enum FlameMode {
    FLAME_CPU,
    FLAME_WALL,  // CPU time and waits
    FLAME_WAITS, // waits only
    FLAME_MODES
};

struct FlameShare { // the shares of one branch, as parts of a core
    double self;
    double in_c;
};

struct FlameTree { // a zeroed struct is no tree
    enum FlameMode mode;
    bool idle;   // The waits of idle threads have branches, too.
    bool hides;  // C functions have no branches of their own.
    double rest; // Share of those waits if they have no branches.
    struct FlameTable *table;
    struct FlameBranch *branches;
    size_t count;
};

struct FlamePath { // function ids of the branches, without the root
    uint64_t ids[FLAME_DEPTH];
    int depth;
};

// Builds the tree from `table`, and takes over the ownership of `table`.
// Returns 0, -EPROTO for an invalid table, or -ENOMEM. After an error the tree
// is unchanged.
int FlameTree_take(struct FlameTree *tree, struct FlameTable *table);
// Builds the tree again for its `mode`, with an element of `shares` for each
// row of the table, and then for each wait. If `shares` is NULL, the tree gets
// the table's own shares. Returns 0, or -ENOMEM with the tree unchanged.
int FlameTree_weigh(struct FlameTree *tree, const struct FlameShare *shares);
// Keeps only the tree's mode.
void FlameTree_release(struct FlameTree *tree);

// Returns the CPU times of the table's rows and the times of its waits, in ns
// since the start of tracing. The moment has a total for each row, and then for
// each wait. The key of a total is a hash of the
// row's path. If the process does not send CPU times, or if memory is out, the
// moment has no totals. The caller calls Moment_release.
struct Moment FlameTree_moment(const struct FlameTree *tree);
// Returns the shares of rows and waits between two moments. The caller frees
// the shares. Returns NULL if no time has passed, if a moment has no totals, or
// if memory is out.
struct FlameShare *FlameShares_since(const struct Moment *then,
                                     const struct Moment *now);

// Returns the last existing branch on the path. Sets *whole to whether the
// whole path exists.
uint32_t FlameTree_find(const struct FlameTree *tree,
                        const struct FlamePath *path, bool *whole);
void FlameTree_path(const struct FlameTree *tree, uint32_t branch,
                    struct FlamePath *path);
// Returns the number of rows that a tree of the table can have.
size_t FlameTree_rows(const struct FlameTable *table);
// Returns the number of waits that a tree of the table can have.
size_t FlameTree_waits(const struct FlameTable *table);
// Returns the row of a wait, or the root if a tree has no such row.
size_t FlameTree_row_of(const struct FlameTable *table,
                        const struct FlameWait *wait);
// Returns true if a branch of a C function has time.
bool FlameTree_has_natives(const struct FlameTree *tree);
// Returns the name of a kind of wait on the screen.
const char *FlameTree_wait_name(unsigned kind);
// Returns the child with the largest total, or 0 if there is no child.
uint32_t FlameTree_hottest(const struct FlameTree *tree, uint32_t branch);
// Returns the branch after `branch` (step 1) or before it (step -1) in a walk
// through the tree. A caller comes before its callees, which are sorted by
// name. After the last branch the walk goes on at the root, and the other way
// round.
uint32_t FlameTree_next(const struct FlameTree *tree, uint32_t branch,
                        int step);
// Returns true if `branch` is below `above` or is the same branch.
bool FlameTree_is_below(const struct FlameTree *tree, uint32_t branch,
                        uint32_t above);
