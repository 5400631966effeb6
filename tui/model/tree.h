// SPDX-License-Identifier: MIT
// struct Tree has the callers and callees of one function. The branches below a
// folded branch are not in the tree. The tree is built from the call edges of a
// snapshot or from the calls of a period. The callers view owns the tree and
// builds it again for each frame.
#pragma once

#include "tui/model/calls.h"
#include "tui/model/model.h"

#define TREE_DEPTH 12                 // Deepest level of branches.
#define TREE_MIDDLE (1 + BRANCH_ROOT) // Key of the function in the middle.
#define TREE_OPEN 64    // Number of branches that can be unfolded at once.
#define TREE_MOST 20000 // Total number of branches.

enum BranchKind {
    BRANCH_CALLERS, // The heading above the callers.
    BRANCH_ROOT,    // The function in the middle.
    BRANCH_CALLEES, // The heading above the callees.
    BRANCH_FUNCTION,
    BRANCH_SELF, // The part of the parent function without its callees.
    // The parent function at the bottom of a stack, without a caller.
    BRANCH_BOTTOM,
    BRANCH_OTHERS // all branches that are too small to be listed
};

struct Branch {
    enum BranchKind kind;
    bool caller; // True if the branch is above the root, false if below.
    int depth;   // Level in the tree (0 = the root and the headings).
    // FUNCTION and ROOT: id of the function. FUNCTION: id of a wait.
    uint64_t id;
    // Share of one core, running or waiting. If the tree is built from calls,
    // the share is of the calls' mode. NaN if unknown.
    double share;
    double part;  // Share divided by the parent function's share, at most 1.
    uint64_t key; // Number of the branch in all snapshots, never 0.
    bool opens;   // The branch can be unfolded.
    bool open;
    // The function is already on the path from the root (recursion).
    bool again;
    bool last;     // The branch is the last of its siblings.
    uint32_t bars; // Bit n: a vertical line is drawn at depth n.
};

struct Tree {
    uint64_t root;
    struct Branch *branches;
    size_t count;
    size_t room;
    uint64_t open[TREE_OPEN]; // keys of unfolded branches
    size_t open_count;
};

// Returns the shares of a function. If `calls` is NULL, the shares come from
// the snapshot and include running and waiting. (The self share is a separate
// estimate, so it is limited to the total.) If `calls` is not NULL, the shares
// come from `calls`.
struct CallTotal Tree_total(const struct Function *function,
                            const struct Calls *calls);
// Puts another function in the middle and folds all branches.
void Tree_root(struct Tree *tree, uint64_t root);
// Builds the tree from `calls`, or from the model's snapshot if `calls` is
// NULL. Returns 0 or -ENOMEM.
int Tree_build(struct Tree *tree, const struct Model *model,
               const struct Calls *calls);
void Tree_release(struct Tree *tree);
// Unfolds or folds a branch. Returns false if the branch cannot be unfolded, or
// if too many branches are unfolded.
bool Tree_toggle(struct Tree *tree, const struct Branch *branch);
