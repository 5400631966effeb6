// SPDX-License-Identifier: MIT
// struct Tree contains the callers and callees of one function. struct Tree
// does not contain the branches below a folded branch. The tree is built either
// from the call edges of a snapshot, or from the calls in a period. The callers
// view owns the tree and builds it again for each frame.
#pragma once

#include "tui/model/calls.h"
#include "tui/model/model.h"

#define TREE_DEPTH 12                 // Deepest level of a branch.
#define TREE_MIDDLE (1 + BRANCH_ROOT) // Key of the function in the middle.
// Largest number of branches that are unfolded at the same time.
#define TREE_OPEN 64
#define TREE_MOST 20000 // Largest number of all branches.

enum BranchKind {
    BRANCH_CALLERS, // The heading above the callers.
    BRANCH_ROOT,    // The function in the middle.
    BRANCH_CALLEES, // The heading above the callees.
    BRANCH_FUNCTION,
    // The share of the parent function itself, without its callees.
    BRANCH_SELF,
    // The share of the parent function in stacks in which it has no caller.
    BRANCH_BOTTOM,
    BRANCH_OTHERS // Sum of all branches that are too small to be listed.
};

struct Branch {
    enum BranchKind kind;
    // True if the branch is above the root, and false if it is below.
    bool caller;
    int depth; // Level in the tree (0 = the root and the headings).
    // FUNCTION and ROOT: id of the function. FUNCTION: id of a wait.
    uint64_t id;
    // Share of one core, running or waiting. In a tree of calls, the share
    // contains only the time of the mode in which the calls were counted. NaN
    // if unknown.
    double share;
    double part; // Share divided by the parent function's share, at most 1.
    // A number that identifies the branch in all snapshots, never 0.
    uint64_t key;
    bool opens; // True if the branch can be unfolded.
    bool open;
    // True if the function is already on the path from the root (recursion).
    bool again;
    bool last;     // True if the branch is the last one below its parent.
    uint32_t bars; // Bit n: if it is set, a vertical line is drawn at depth n.
};

struct Tree {
    uint64_t root;
    struct Branch *branches;
    size_t count;
    size_t room;
    uint64_t open[TREE_OPEN]; // Keys of unfolded branches.
    size_t open_count;
};

// Returns the shares of a function. If `calls` is NULL, the shares come from
// the snapshot, and contain running and waiting. (The self share is estimated
// separately, so it is cut to the total share.) If `calls` is not NULL, the
// shares come from `calls`.
struct CallTotal Tree_total(const struct Function *function,
                            const struct Calls *calls);
// Puts another function into the middle and folds all branches.
void Tree_root(struct Tree *tree, uint64_t root);
// Builds the tree from `calls`, or from the model's snapshot if `calls` is
// NULL. Returns 0 or -ENOMEM.
int Tree_build(struct Tree *tree, const struct Model *model,
               const struct Calls *calls);
void Tree_release(struct Tree *tree);
// Unfolds or folds a branch. Returns false if the branch cannot be unfolded, or
// if too many branches are unfolded.
bool Tree_toggle(struct Tree *tree, const struct Branch *branch);
