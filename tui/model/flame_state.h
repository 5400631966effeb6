// SPDX-License-Identifier: MIT
// The state of the flame view: the newest stacks as a tree, the answers of the
// last minute, the selected box and the one that is zoomed in on. The callers
// view counts its windows from it, too. Draws nothing. One thread.
#ifndef OCULAR_TUI_MODEL_FLAME_STATE_H
#define OCULAR_TUI_MODEL_FLAME_STATE_H

#include "tui/model/feed.h"
#include "tui/model/flame_tree.h"
#include "tui/model/window.h"

struct FlameState {
    struct FlameTree tree;
    struct History history;
    struct Moment now;         // CPU time since the start, as the tree has it
    enum Period period;        // that the user wants
    struct Window window;      // that the tree shows; only if `own`
    bool own;                  // the tree shows `period`, and not the sampler's
                               // window
    bool marking;              // PERIOD_SINCE begins with the next answer
    struct FlamePath zoom;     // to the box that is as wide as the screen
    struct FlamePath selected; // at or below the zoom
    struct FlamePath search_zoom; // when a search began
    struct FlamePath search_selected;
    int top;           // depth of the first line of the body
    double asked_at;   // uptime, in s, of the snapshot that we asked after
    double seen_at;    // uptime of the newest stacks; 0: none yet
    char refused[256]; // why there are none, not trusted; "": no error
};

void FlameState_release(struct FlameState *state);
// The view comes to the front. Drops what is too old to be shown again. `now`
// may be NULL.
void FlameState_open(struct FlameState *state, const struct Snapshot *now);
// Asks for stacks, once a snapshot.
void FlameState_ask(struct FlameState *state, struct Feed *feed,
                    const struct Snapshot *now);
// Takes over stacks that came.
void FlameState_take(struct FlameState *state, struct FlameTable *table);
// Remembers why there are none.
void FlameState_refuse(struct FlameState *state, const char *why);
// PERIOD_SINCE begins now and is shown; there must be a tree.
void FlameState_mark(struct FlameState *state);
void FlameState_next_period(struct FlameState *state);

// The box that is zoomed in on, and the one selected, in the newest tree. The
// caller stands for what is not in that tree.
uint32_t FlameState_zoom(const struct FlameState *state);
uint32_t FlameState_selected(const struct FlameState *state, uint32_t zoom);
void FlameState_select(struct FlameState *state, uint32_t branch);
void FlameState_zoom_to(struct FlameState *state, uint32_t branch);
bool FlameState_zoom_out(struct FlameState *state); // false: it was out
// Selects from that branch downwards, each time the hottest of those that are
// called, or upwards (steps < 0), no further than the zoom.
void FlameState_move(struct FlameState *state, uint32_t from, int steps);

#endif
