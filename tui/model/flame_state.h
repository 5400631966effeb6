// SPDX-License-Identifier: MIT
// FlameState is the state of the flame view. FlameState consists of the newest
// stacks as a tree, the CPU times of the last minute, the selected box and the
// zoomed box. Other views also use these stacks.
#pragma once

#include "tui/model/calls.h"
#include "tui/model/feed.h"
#include "tui/model/flame_tree.h"
#include "tui/model/window.h"

struct FlameState {
    struct FlameTree tree;
    struct History history;
    // CPU times since the start of tracing, for the rows of `tree`.
    struct Moment now;
    enum Period period; // The period that the user chose.
    // Stretch of time of the shares; unused if `own` is false.
    struct Window window;
    // True if the shares are those of `period`, and false if they are those of
    // the sampler's window.
    bool own;
    bool marking; // True if PERIOD_SINCE is to begin with the next stacks.
    // Path to the box that is shown as wide as the screen.
    struct FlamePath zoom;
    // Path to the selected box, which is the zoomed box or below it.
    struct FlamePath selected;
    // Value of `zoom` at the beginning of the search.
    struct FlamePath search_zoom;
    struct FlamePath search_selected;
    int top; // Level in the tree of the boxes on the first line.
    // Uptime in seconds of the snapshot for which stacks were last requested.
    double asked_at;
    // Uptime in seconds of the newest stacks, or 0 if no stacks have come yet.
    double seen_at;
    char refused[256]; // Why there are no stacks, not trusted, or "".
};

// Forgets all stacks. Must be called if the next stacks belong to another part
// of a recorded run.
void FlameState_forget(struct FlameState *state);
void FlameState_release(struct FlameState *state);
// Must be called when the view is opened. Drops stacks that are too old to be
// shown. `now`, the newest snapshot, may be NULL.
void FlameState_open(struct FlameState *state, const struct Snapshot *now);
// Requests stacks, at most once for each snapshot.
void FlameState_ask(struct FlameState *state, struct Feed *feed,
                    const struct Snapshot *now);
// Takes ownership of a new table of stacks, and builds the tree.
void FlameState_take(struct FlameState *state, struct FlameTable *table);
// Returns the shares in a period, and sets *window to its length and samples.
// The caller frees the shares. Returns NULL if they are not known, or if the
// period is PERIOD_LATELY, for which the table itself has the shares. There
// must be a tree.
struct FlameShare *FlameState_shares(const struct FlameState *state,
                                     enum Period period, struct Window *window);
// Counts the calls of the whole run. Returns 0, or -ENODATA if there are no
// CPU times, or -ENOMEM.
int FlameState_calls(const struct FlameState *state, struct Calls *calls);
// Stores the reason why there are no stacks.
void FlameState_refuse(struct FlameState *state, const char *why);
// Starts the period PERIOD_SINCE at this moment, and shows it. There must be a
// tree.
void FlameState_mark(struct FlameState *state);
void FlameState_next_period(struct FlameState *state);
// Shows the times of the next mode.
void FlameState_next_mode(struct FlameState *state);
void FlameState_toggle_idle(struct FlameState *state);
// Shows or hides C functions. Returns true if C functions are shown now.
bool FlameState_toggle_natives(struct FlameState *state);
// Returns the stretch of time of the shown shares. `lately` is the sampler's
// window. The number of samples is only known if the shares are shares of CPU
// time.
struct Window FlameState_window(const struct FlameState *state,
                                const struct Window *lately);

// FlameState_zoom and FlameState_selected return the zoomed and the selected
// branch in the newest tree. If the newest tree does not have the branch, they
// return its nearest caller.
uint32_t FlameState_zoom(const struct FlameState *state);
uint32_t FlameState_selected(const struct FlameState *state, uint32_t zoom);
void FlameState_select(struct FlameState *state, uint32_t branch);
void FlameState_zoom_to(struct FlameState *state, uint32_t branch);
// Zooms out. Returns false if no box was zoomed in.
bool FlameState_zoom_out(struct FlameState *state);
// Moves the selection by `steps` levels from branch `from`. A step down leads
// to the hottest callee. If `steps` is negative, moves the selection up, but
// not above the zoomed box.
void FlameState_move(struct FlameState *state, uint32_t from, int steps);
