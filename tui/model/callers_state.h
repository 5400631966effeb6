// SPDX-License-Identifier: MIT
// The state of the callers view: the tree around one function, how the user
// came here, and the window that it counts. Draws nothing. One thread.
#ifndef OCULAR_TUI_MODEL_CALLERS_STATE_H
#define OCULAR_TUI_MODEL_CALLERS_STATE_H

#include "tui/model/flame_state.h"
#include "tui/model/tree.h"
#include "tui/model/window.h"

#define CALLERS_WAY 32 // functions that lead back

struct CallersState {
    struct Tree tree;
    uint64_t
        way[CALLERS_WAY]; // ids of functions that were in the middle before
    int depth;            // functions in `way`
    enum Period period;
    struct Calls calls;   // of the period; only if `own`
    bool own;             // the tree shows `calls`, and not the snapshot
    struct Window window; // that the tree shows
};

void CallersState_release(struct CallersState *state);
// Remembers the one in the middle as the way back.
void CallersState_remember(struct CallersState *state);
// Lays the tree out. It counts the stacks of the flame view if the period is
// not PERIOD_LATELY.
void CallersState_build(struct CallersState *state,
                        const struct FlameState *flame,
                        const struct Model *model);

#endif
