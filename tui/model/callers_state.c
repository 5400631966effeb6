// SPDX-License-Identifier: MIT
#include "tui/model/callers_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void CallersState_release(struct CallersState *state)
{
    Tree_release(&state->tree);
    Calls_release(&state->calls);
}

// If `way` is full, its oldest function is forgotten.
void CallersState_remember(struct CallersState *state)
{
    if (state->depth == CALLERS_WAY)
        memmove(state->way, state->way + 1,
                (size_t)--state->depth * sizeof *state->way);
    state->way[state->depth++] = state->tree.root;
}

enum FlameMode CallersState_mode(const struct CallersState *state)
{
    return (enum FlameMode)((FLAME_WALL + state->modes) % FLAME_MODES);
}

bool CallersState_needs_stacks(const struct CallersState *state)
{
    return state->period != PERIOD_LATELY ||
           CallersState_mode(state) != FLAME_WALL;
}

// Counts the calls of the period. The number of samples is only known if the
// shares are shares of CPU time.
static void count(struct CallersState *state, const struct FlameState *flame,
                  const struct Model *model)
{
    enum FlameMode mode = CallersState_mode(state);
    struct Window window;
    state->window = model->window;
    state->own = false;
    if (!flame->tree.count || !CallersState_needs_stacks(state))
        return;
    struct FlameShare *shares =
        FlameState_shares(flame, state->period, &window);
    state->own =
        (shares || state->period == PERIOD_LATELY) &&
        Calls_count(&state->calls, flame->tree.table, shares, mode) == 0;
    if (state->own && shares)
        state->window = window;
    if (state->own && mode != FLAME_CPU)
        state->window.samples = state->window.per_share = NAN;
    free(shares);
}

void CallersState_build(struct CallersState *state,
                        const struct FlameState *flame,
                        const struct Model *model)
{
    count(state, flame, model);
    if (!model->snapshot ||
        Tree_build(&state->tree, model, state->own ? &state->calls : NULL))
        state->tree.count = 0;
}
