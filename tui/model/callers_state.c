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

// If `way` is full, forgets the oldest function in it.
void CallersState_remember(struct CallersState *state)
{
    if (state->depth == CALLERS_WAY)
        memmove(state->way, state->way + 1,
                (size_t)--state->depth * sizeof *state->way);
    state->way[state->depth++] = state->tree.root;
}

static void count(struct CallersState *state, const struct FlameState *flame,
                  const struct Model *model)
{
    struct FlameShare *shares = NULL;
    const struct Moment *then =
        History_begin(&flame->history, flame->now.at_s, state->period);
    if (state->period != PERIOD_LATELY && flame->tree.count)
        shares = FlameShares_since(then, &flame->now);
    size_t rows = shares ? FlameTree_rows(flame->tree.table) : 0;
    state->own = shares && Calls_count(&state->calls, flame->tree.table, shares,
                                       rows) == 0;
    // Share of all samples, including samples of code that is not traced.
    double running = 0;
    for (size_t i = 0; state->own && i < rows; i++)
        running += shares[i].self;
    free(shares);
    state->window = model->window;
    if (!state->own)
        return;
    state->window = (struct Window){flame->now.at_s - then->at_s,
                                    flame->now.samples - then->samples, NAN};
    if (running > 0)
        state->window.per_share = state->window.samples / running;
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
