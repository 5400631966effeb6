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

// Returns the stretch of time that the calls cover. The number of samples is
// only known if the shares are shares of CPU time.
static struct Window window_of(const struct CallersState *state,
                               const struct FlameState *flame,
                               const struct FlameShare *shares,
                               struct Window lately)
{
    const struct Moment *then =
        History_begin(&flame->history, flame->now.at_s, state->period);
    struct Window window = lately;
    // Share of all samples, including those of code that is not traced.
    double running = 0;
    if (shares)
        window = (struct Window){flame->now.at_s - then->at_s,
                                 flame->now.samples - then->samples, NAN};
    for (size_t i = 0; shares && i < FlameTree_rows(flame->tree.table); i++)
        running += shares[i].self;
    if (running > 0)
        window.per_share = window.samples / running;
    if (CallersState_mode(state) != FLAME_CPU)
        window.samples = window.per_share = NAN;
    return window;
}

static void count(struct CallersState *state, const struct FlameState *flame,
                  const struct Model *model)
{
    struct FlameShare *shares = NULL;
    const struct Moment *then =
        History_begin(&flame->history, flame->now.at_s, state->period);
    bool lately = state->period == PERIOD_LATELY;
    state->window = model->window;
    state->own = false;
    if (!flame->tree.count || !CallersState_needs_stacks(state))
        return;
    if (!lately)
        shares = FlameShares_since(then, &flame->now);
    state->own = (lately || shares) &&
                 Calls_count(&state->calls, flame->tree.table, shares,
                             CallersState_mode(state)) == 0;
    if (state->own)
        state->window = window_of(state, flame, shares, model->window);
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
