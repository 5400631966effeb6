// SPDX-License-Identifier: MIT
// A flame tree is made from the sampled stacks that a process sends (struct
// FlameTable). The tree also has totals, a fixed order of children, and paths.
// By its path, a branch is found again in the next table. FlameTree_take checks
// the data of the process.
#pragma once

#include "ipc/flame_table.h"
#include "tui/model/history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A deeper row gets no branch, and its share is added to its caller.
#define FLAME_DEPTH 160
#define FLAME_MOST 65536u // Largest number of rows. Further rows are ignored.

struct FlameBranch { // Index 0 is the root, which stands for all threads.
    uint32_t parent;
    uint32_t child;   // Index of the first child (0 = none).
    uint32_t sibling; // Next child of the same parent, by name (0 = none).
    int depth;        // Level in the tree (0 = the root).
    // Id of the function, or of the wait (FlameWait_kind). NULL_U64 stands for
    // the root and for a stack that was cut off.
    uint64_t id;
    const char *name; // The function's name, not trusted and never NULL.
    const char *file; // Path of the function's file (NULL = unknown).
    uint64_t line;
    double self; // Share of a core, without callees.
    double in_c;
    double total; // Share of a core, including callees.
};

// Says which times the boxes of a flame graph show.
enum FlameMode {
    FLAME_CPU,
    FLAME_WALL,  // CPU time and waits.
    FLAME_WAITS, // waits only
    FLAME_MODES
};

struct FlameShare { // The shares of one branch, as parts of a core.
    double self;
    double in_c;
};

struct FlameTree { // A struct of zero bytes is no tree.
    enum FlameMode mode;
    bool idle;  // True if waits of idle threads have branches, too.
    bool hides; // True if C functions have no branches of their own.
    // Share of the waits of idle threads, if these have no branches.
    double rest;
    struct FlameTable *table;
    struct FlameBranch *branches;
    size_t count;
};

// Ids of the functions of the branches, from the root's child on.
struct FlamePath {
    uint64_t ids[FLAME_DEPTH];
    int depth;
};

// Builds the tree from `table` and takes ownership of it. Returns 0, -EPROTO
// for an invalid table, or -ENOMEM. After an error the tree is unchanged.
int FlameTree_take(struct FlameTree *tree, struct FlameTable *table);
// Builds the tree again for its `mode`. `shares` has an element for each row of
// the table, and after these an element for each wait. If `shares` is NULL, the
// table's own shares are used. Returns 0, or -ENOMEM with the tree unchanged.
int FlameTree_weigh(struct FlameTree *tree, const struct FlameShare *shares);
// Frees everything, but keeps the mode of the tree.
void FlameTree_release(struct FlameTree *tree);

// Returns the CPU times of the table's rows and the times of its waits as a
// moment of a history. Times are ns since the start of tracing. The moment has
// a total for each row, and after these a total for each wait. A total's key is
// a hash of the path of its row. The moment has no totals if the process does
// not send CPU times, or if memory is out. The caller releases the moment by
// Moment_release.
struct Moment FlameTree_moment(const struct FlameTree *tree);
// Returns the shares of rows and waits between two moments. The caller frees
// the shares. Returns NULL if no time has passed, if one of the moments has no
// totals, or if memory is out.
struct FlameShare *FlameShares_since(const struct Moment *then,
                                     const struct Moment *now);

// Returns the deepest branch of the path that exists in the tree.
uint32_t FlameTree_find(const struct FlameTree *tree,
                        const struct FlamePath *path);
void FlameTree_path(const struct FlameTree *tree, uint32_t branch,
                    struct FlamePath *path);
// Returns the number of rows that a tree of the table can have.
size_t FlameTree_rows(const struct FlameTable *table);
// Returns the number of waits that a tree of the table can have.
size_t FlameTree_waits(const struct FlameTable *table);
// Returns the row of the function that waits, or the root if the tree does not
// have this row.
size_t FlameTree_row_of(const struct FlameTable *table,
                        const struct FlameWait *wait);
// Returns true if the tree has a branch of a C function with some time.
bool FlameTree_has_natives(const struct FlameTree *tree);
// Returns the name of a kind of wait on the screen.
const char *FlameTree_wait_name(unsigned kind);
// Returns the child with the largest total, or 0 if there is no child.
uint32_t FlameTree_hottest(const struct FlameTree *tree, uint32_t branch);
// Returns the branch after `branch` (step 1) or before it (step -1) in a walk
// through the tree. A caller comes before its callees, which are sorted by
// name. After the last branch comes the root, and before the root comes the
// last branch.
uint32_t FlameTree_next(const struct FlameTree *tree, uint32_t branch,
                        int step);
// Returns true if `branch` is below `above` or is the same branch.
bool FlameTree_is_below(const struct FlameTree *tree, uint32_t branch,
                        uint32_t above);
