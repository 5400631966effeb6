// SPDX-License-Identifier: MIT
// FlameState is the state of the flame view. The state has the newest stacks as
// a tree, the CPU times of the last minute, the selected box and the zoomed
// box. Other views also use the stacks of the feed.
#pragma once

#include "tui/model/calls.h"
#include "tui/model/feed.h"
#include "tui/model/flame_tree.h"
#include "tui/model/window.h"

struct FlameState {
    struct FlameTree tree;
    struct History history;
    struct Moment now;  // CPU time since the start, for the rows of `tree`.
    enum Period period; // The period that the user chose.
    // Stretch of time of the shares, unused if `own` is false.
    struct Window window;
    // True if the shares are those of `period`, false if they are those of the
    // sampler's window.
    bool own;
    bool marking; // The period PERIOD_SINCE begins with the next stacks.
    struct FlamePath zoom;     // Path to the box that is as wide as the screen.
    struct FlamePath selected; // Path to the selected box, at or below `zoom`.
    struct FlamePath search_zoom; // Value of `zoom` when a search began.
    struct FlamePath search_selected;
    int top; // Stack depth of the boxes on the first line.
    // Uptime in seconds of the snapshot after which stacks were requested.
    double asked_at;
    // Uptime in seconds of the newest stacks, or 0 if no stacks have come yet.
    double seen_at;
    char refused[256]; // why there are no stacks, not trusted, or ""
};

// Forgets all stacks. Called if the next stacks belong to another part of a
// recorded run.
void FlameState_forget(struct FlameState *state);
void FlameState_release(struct FlameState *state);
// Called when the view is opened. Drops stacks that are too old to be shown.
// `now`, the newest snapshot, may be NULL.
void FlameState_open(struct FlameState *state, const struct Snapshot *now);
// Requests stacks once for each snapshot.
void FlameState_ask(struct FlameState *state, struct Feed *feed,
                    const struct Snapshot *now);
// Takes over the ownership of a new table of stacks, and builds the tree.
void FlameState_take(struct FlameState *state, struct FlameTable *table);
// Counts the calls of the whole run. Returns 0, or -ENODATA if there are no
// CPU times, or -ENOMEM.
int FlameState_calls(const struct FlameState *state, struct Calls *calls);
// Stores the reason why there are no stacks.
void FlameState_refuse(struct FlameState *state, const char *why);
// Starts the period PERIOD_SINCE now, and shows this period. The state must
// have a tree.
void FlameState_mark(struct FlameState *state);
void FlameState_next_period(struct FlameState *state);
// Shows the times of the next mode.
void FlameState_next_mode(struct FlameState *state);
void FlameState_toggle_idle(struct FlameState *state);
// Shows or hides C functions. Returns true if they are shown now.
bool FlameState_toggle_natives(struct FlameState *state);
// Returns the stretch of time of the shown shares. `lately` is the sampler's
// window. The number of samples is only known if the shares are of CPU time.
struct Window FlameState_window(const struct FlameState *state,
                                const struct Window *lately);

// These two functions return the zoomed and the selected branch in the newest
// tree. If the tree does not have the branch, the functions return the branch's
// nearest caller in the tree.
uint32_t FlameState_zoom(const struct FlameState *state);
uint32_t FlameState_selected(const struct FlameState *state, uint32_t zoom);
void FlameState_select(struct FlameState *state, uint32_t branch);
void FlameState_zoom_to(struct FlameState *state, uint32_t branch);
// Zooms out. Returns false if the view was not zoomed in.
bool FlameState_zoom_out(struct FlameState *state);
// Moves the selection by `steps` levels from branch `from`. A step down goes to
// the hottest callee. If `steps` is negative, the selection moves up, but not
// above the zoomed box.
void FlameState_move(struct FlameState *state, uint32_t from, int steps);
