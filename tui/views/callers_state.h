// SPDX-License-Identifier: MIT
// What the callers view remembers: the tree around one function, which branch
// is selected, how the user came here, and the window that it counts. Draws
// nothing. One thread.
#ifndef OCULAR_TUI_VIEWS_CALLERS_STATE_H
#define OCULAR_TUI_VIEWS_CALLERS_STATE_H

#include "tui/model/tree.h"
#include "tui/model/window.h"
#include "tui/screen/list.h"
#include "tui/views/flame_state.h"

#define CALLERS_WAY 32 // functions that lead back

struct CallersState {
    struct Tree tree;
    struct List list;
    uint64_t selected; // key of the branch
    uint64_t
        way[CALLERS_WAY]; // ids of functions that were in the middle before
    int depth;            // functions in `way`
    enum Period period;
    struct Calls calls;   // of the period; only if `own`
    bool own;             // the tree shows `calls`, and not the snapshot
    struct Window window; // that the tree shows
};

void CallersState_release(struct CallersState *state);
// Puts a function in the middle and selects it.
void CallersState_go_to(struct CallersState *state, uint64_t id);
// Remembers the one in the middle as the way back.
void CallersState_remember(struct CallersState *state);
// Lays the tree out, for a body of `height` lines, and finds the selected
// branch in it again. The stacks of the flame view are counted where the period
// is not PERIOD_LATELY.
void CallersState_build(struct CallersState *state,
                        const struct FlameState *flame,
                        const struct Model *model, int height);
// The selected branch; NULL: there is none.
const struct Branch *CallersState_selected(const struct CallersState *state);
// The selection stays with the branch that the list has selected.
void CallersState_pin(struct CallersState *state);

#endif
