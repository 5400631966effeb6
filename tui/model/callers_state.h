// SPDX-License-Identifier: MIT
// CallersState is the state of the callers view. CallersState consists of the
// tree around the function in the middle, the functions that were in the middle
// before, and the period.
#pragma once

#include "tui/model/flame_state.h"
#include "tui/model/tree.h"
#include "tui/model/window.h"

// Maximum number of functions to which the user can go back.
#define CALLERS_WAY 32

struct CallersState {
    struct Tree tree;
    // Ids of the functions that were in the middle before.
    uint64_t way[CALLERS_WAY];
    int depth; // Number of functions in `way`.
    enum Period period;
    // Number of modes between FLAME_WALL and the shown mode.
    int modes;
    struct Calls calls; // Calls in the period; unused if `own` is false.
    // True if the tree shows `calls` instead of the call edges of the snapshot.
    bool own;
    struct Window window; // Stretch of time of the shares in the tree.
};

void CallersState_release(struct CallersState *state);
// Adds the function in the middle to `way`.
void CallersState_remember(struct CallersState *state);
enum FlameMode CallersState_mode(const struct CallersState *state);
// Returns true if the user has chosen something else than the snapshot's call
// edges. If so, the stacks of the flame view are needed.
bool CallersState_needs_stacks(const struct CallersState *state);
// Builds the tree of callers and callees from the stacks of the flame view. If
// the stacks are not needed or there are none, builds the tree from the
// snapshot's call edges.
void CallersState_build(struct CallersState *state,
                        const struct FlameState *flame,
                        const struct Model *model);
