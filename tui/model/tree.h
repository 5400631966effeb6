// SPDX-License-Identifier: MIT
// Who a function's time is for, and whom it goes to: the edges of a snapshot,
// or the calls of a window, as a tree around one function, as far as it is
// unfolded. Built anew for each frame; owned by the callers view. One thread.
#ifndef OCULAR_TUI_MODEL_TREE_H
#define OCULAR_TUI_MODEL_TREE_H

#include "tui/model/calls.h"
#include "tui/model/model.h"

#define TREE_DEPTH 12   // branches below each other
#define TREE_OPEN 64    // that can be unfolded at once
#define TREE_MOST 20000 // branches in all

enum BranchKind {
    BRANCH_CALLERS, // a heading
    BRANCH_ROOT,    // the function itself
    BRANCH_CALLEES, // a heading
    BRANCH_FUNCTION,
    BRANCH_SELF,   // the part that the function above takes itself
    BRANCH_BOTTOM, // nobody called it: it is the bottom of a stack
    BRANCH_OTHERS  // in parts too small to be told apart
};

struct Branch {
    enum BranchKind kind;
    bool caller;  // above the root, else below
    int depth;    // 0 = the root and the headings
    uint64_t id;  // of FUNCTION and ROOT
    double share; // of one core, running or waiting, of calls running; NaN:
                  // not known
    double part;  // of the function that it hangs on, at most all of it
    uint64_t key; // names its place in the tree, the same in all snapshots
    bool opens;   // there is something below
    bool open;
    bool again;    // it stands above itself already: recursion
    bool last;     // of its siblings
    uint32_t bars; // bit n: a line goes on at depth n
};

struct Tree {
    uint64_t root;
    struct Branch *branches;
    size_t count;
    size_t room;
    uint64_t open[TREE_OPEN]; // keys
    size_t open_count;
};

// Shares of a function: with callees, and what it takes itself, which is
// estimated apart and never more than that. By a snapshot, of time running or
// waiting; or by calls, of time running.
struct CallTotal Tree_total(const struct Function *function,
                            const struct Calls *calls);
// Another function; nothing is unfolded.
void Tree_root(struct Tree *tree, uint64_t root);
// Lays it out by these calls; NULL: by the model's snapshot. 0 or -ENOMEM.
int Tree_build(struct Tree *tree, const struct Model *model,
               const struct Calls *calls);
void Tree_release(struct Tree *tree);
// Unfolds a branch, or folds it. False where there is nothing to unfold, or no
// room.
bool Tree_toggle(struct Tree *tree, const struct Branch *branch);

#endif
