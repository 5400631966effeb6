// SPDX-License-Identifier: MIT
// Callers and callees of one function as a tree, as far as it is unfolded, made
// of the call edges of a snapshot or of the calls of a window. The callers view
// owns it and builds it for each frame. One thread.
#ifndef OCULAR_TUI_MODEL_TREE_H
#define OCULAR_TUI_MODEL_TREE_H

#include "tui/model/calls.h"
#include "tui/model/model.h"

#define TREE_DEPTH 12                 // levels of branches
#define TREE_MIDDLE (1 + BRANCH_ROOT) // key of the function in the middle
#define TREE_OPEN 64                  // branches that can be unfolded at once
#define TREE_MOST 20000               // branches in all

enum BranchKind {
    BRANCH_CALLERS, // a heading
    BRANCH_ROOT,    // the function itself
    BRANCH_CALLEES, // a heading
    BRANCH_FUNCTION,
    BRANCH_SELF,   // the parent function's own share
    BRANCH_BOTTOM, // no caller: the bottom of a stack
    BRANCH_OTHERS  // all that are too small to be listed
};

struct Branch {
    enum BranchKind kind;
    bool caller;  // it stands above the root, else below
    int depth;    // 0: the root and the headings
    uint64_t id;  // FUNCTION and ROOT: of the function
    double share; // of one core: running or waiting; of calls: running; NaN:
                  // not known
    double part;  // of the parent function's share, at most 1
    uint64_t key; // of its place in the tree, the same in all snapshots; never
                  // 0
    bool opens;   // it can be unfolded
    bool open;
    bool again;    // recursion: the function stands above already
    bool last;     // it is the last of its siblings
    uint32_t bars; // bit n: a line is drawn at depth n
};

struct Tree {
    uint64_t root;
    struct Branch *branches;
    size_t count;
    size_t room;
    uint64_t open[TREE_OPEN]; // keys
    size_t open_count;
};

// Returns the shares of a function. By a snapshot (NULL) they are of time
// running or waiting, and its own share, a separate estimate, is at most the
// total. By calls they are of time running.
struct CallTotal Tree_total(const struct Function *function,
                            const struct Calls *calls);
// Puts another function in the middle; nothing is unfolded.
void Tree_root(struct Tree *tree, uint64_t root);
// Lays the tree out by these calls; NULL: by the model's snapshot. 0 or
// -ENOMEM.
int Tree_build(struct Tree *tree, const struct Model *model,
               const struct Calls *calls);
void Tree_release(struct Tree *tree);
// Unfolds a branch, or folds it. False: there is nothing to unfold, or no room.
bool Tree_toggle(struct Tree *tree, const struct Branch *branch);

#endif
