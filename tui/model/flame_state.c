// SPDX-License-Identifier: MIT
#include "tui/model/flame_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OLD_S 5.0 // Stacks older than OLD_S seconds are not shown.

void FlameState_release(struct FlameState *state)
{
    FlameTree_release(&state->tree);
    History_release(&state->history);
    Moment_release(&state->now);
}

void FlameState_forget(struct FlameState *state)
{
    FlameState_release(state);
    state->period = PERIOD_LATELY;
    state->refused[0] = 0;
    state->asked_at = state->seen_at = NAN;
}

void FlameState_open(struct FlameState *state, const struct Snapshot *now)
{
    if (!now || !(fabs(now->uptime_s - state->seen_at) <= OLD_S))
        FlameTree_release(&state->tree);
    state->refused[0] = 0;
    state->asked_at = NAN;
}

// If the screen is paused, a live process is not asked for stacks, because new
// stacks do not belong to the snapshot on the screen.
void FlameState_ask(struct FlameState *state, struct Feed *feed,
                    const struct Snapshot *now)
{
    if (!now || (feed->paused && !Feed_is_replay(feed)) || *state->refused ||
        state->asked_at == now->uptime_s)
        return;
    state->asked_at = now->uptime_s;
    Feed_ask(feed, MESSAGE_FLAME, 0);
}

void FlameState_refuse(struct FlameState *state, const char *why)
{
    snprintf(state->refused, sizeof state->refused, "%s", why);
}

struct FlameShare *FlameState_shares(const struct FlameState *state,
                                     enum Period period, struct Window *window)
{
    const struct Moment *now = &state->now;
    const struct Moment *then =
        History_begin(&state->history, now->at_s, period);
    struct FlameShare *shares =
        period == PERIOD_LATELY ? NULL : FlameShares_since(then, now);
    // Share of all samples, including those of code that is not traced.
    double running = 0;
    for (size_t i = 0; shares && i < FlameTree_rows(state->tree.table); i++)
        running += shares[i].self;
    *window = (struct Window){now->at_s - then->at_s,
                              now->samples - then->samples, NAN};
    if (running > 0)
        window->per_share = window->samples / running;
    return shares;
}

// Gives the tree the shares of the chosen period.
static void weigh(struct FlameState *state)
{
    struct FlameShare *shares =
        FlameState_shares(state, state->period, &state->window);
    state->own = FlameTree_weigh(&state->tree, shares) == 0 && shares;
    free(shares);
}

void FlameState_take(struct FlameState *state, struct FlameTable *table)
{
    state->seen_at = state->asked_at;
    if (FlameTree_take(&state->tree, table)) {
        FlameState_refuse(state, "The process sent stacks that are none.");
        return;
    }
    Moment_release(&state->now);
    state->now = FlameTree_moment(&state->tree);
    History_note(&state->history, &state->now);
    if (state->marking)
        History_mark(&state->history, &state->now);
    state->marking = false;
    weigh(state);
}

int FlameState_calls(const struct FlameState *state, struct Calls *calls)
{
    const struct Moment start = {.at_s = 0};
    struct FlameShare *shares = FlameShares_since(&start, &state->now);
    if (!shares)
        return -ENODATA;
    int error = Calls_count(calls, state->tree.table, shares, FLAME_CPU);
    free(shares);
    return error;
}

void FlameState_mark(struct FlameState *state)
{
    History_mark(&state->history, &state->now);
    state->period = PERIOD_SINCE;
    weigh(state);
}

static void reweigh(struct FlameState *state)
{
    if (state->tree.count)
        weigh(state);
}

void FlameState_next_period(struct FlameState *state)
{
    state->period = (state->period + 1) % PERIODS;
    reweigh(state);
}

void FlameState_next_mode(struct FlameState *state)
{
    state->tree.mode = (state->tree.mode + 1) % FLAME_MODES;
    reweigh(state);
}

void FlameState_toggle_idle(struct FlameState *state)
{
    state->tree.idle = !state->tree.idle;
    reweigh(state);
}

bool FlameState_toggle_natives(struct FlameState *state)
{
    state->tree.hides = FlameTree_has_natives(&state->tree);
    reweigh(state);
    return !state->tree.hides;
}

struct Window FlameState_window(const struct FlameState *state,
                                const struct Window *lately)
{
    struct Window window = state->own ? state->window : *lately;
    if (state->tree.mode != FLAME_CPU)
        window.samples = window.per_share = NAN;
    return window;
}

// --- Which boxes

uint32_t FlameState_zoom(const struct FlameState *state)
{
    return FlameTree_find(&state->tree, &state->zoom);
}

uint32_t FlameState_selected(const struct FlameState *state, uint32_t zoom)
{
    uint32_t branch = FlameTree_find(&state->tree, &state->selected);
    return FlameTree_is_below(&state->tree, branch, zoom) ? branch : zoom;
}

void FlameState_select(struct FlameState *state, uint32_t branch)
{
    FlameTree_path(&state->tree, branch, &state->selected);
}

void FlameState_zoom_to(struct FlameState *state, uint32_t branch)
{
    FlameTree_path(&state->tree, branch, &state->zoom);
    state->selected = state->zoom;
}

bool FlameState_zoom_out(struct FlameState *state)
{
    if (!state->zoom.depth)
        return false;
    state->selected = state->zoom;
    state->zoom.depth--;
    return true;
}

void FlameState_move(struct FlameState *state, uint32_t from, int steps)
{
    uint32_t zoom_depth = (uint32_t)state->zoom.depth;
    for (; steps > 0; steps--) {
        uint32_t child = FlameTree_hottest(&state->tree, from);
        from = child ? child : from;
    }
    for (; steps < 0 && (uint32_t)state->tree.branches[from].depth > zoom_depth;
         steps++)
        from = state->tree.branches[from].parent;
    FlameState_select(state, from);
}
