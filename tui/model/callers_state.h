// SPDX-License-Identifier: MIT
// The state of the callers view: the tree around one function, the functions
// that were in the middle before, and the window that is counted. Draws
// nothing. One thread.
#ifndef OCULAR_TUI_MODEL_CALLERS_STATE_H
#define OCULAR_TUI_MODEL_CALLERS_STATE_H

#include "tui/model/flame_state.h"
#include "tui/model/tree.h"
#include "tui/model/window.h"

#define CALLERS_WAY 32 // functions that the user can go back to

struct CallersState {
    struct Tree tree;
    uint64_t
        way[CALLERS_WAY]; // ids of the functions that were in the middle before
    int depth;            // number of functions in `way`
    enum Period period;
    struct Calls calls;   // calls in the period; only if `own`
    bool own;             // the tree shows `calls` instead of the snapshot
    struct Window window; // window of the shares in the tree
};

void CallersState_release(struct CallersState *state);
// Adds the function in the middle to `way`.
void CallersState_remember(struct CallersState *state);
// Builds the tree: from the stacks of the flame view, or from the snapshot's
// call edges if the period is PERIOD_LATELY or there are no stacks.
void CallersState_build(struct CallersState *state,
                        const struct FlameState *flame,
                        const struct Model *model);

#endif
