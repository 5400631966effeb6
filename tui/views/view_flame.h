// SPDX-License-Identifier: MIT
// The flame view: where CPU time goes, by who called whom, as boxes whose
// widths are shares; callers stand above what they call. One box is selected,
// one is zoomed in on. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_FLAME_H
#define OCULAR_TUI_VIEWS_VIEW_FLAME_H

#include "tui/model/flame_tree.h"
#include "tui/model/window.h"
#include "tui/screen/keymap.h"
#include "tui/views/status.h"

struct Bytes;
struct Screen;

struct FlameView {
    struct FlameTree tree;
    struct History history;
    struct Moment now;          // what the tree is of
    enum Period period;         // that is wished for,
    struct Window window;       // ... and what is shown; only if `own`
    bool own;                   // not the sampler's own
    bool marking;               // PERIOD_SINCE is to begin with what comes next
    struct FlamePath zoom;      // as wide as the screen
    struct FlamePath selected;  // at or below the zoom
    struct FlamePath kept_zoom; // when a search began
    struct FlamePath kept_selected;
    int top;           // depth of the first line of the body
    double asked_at;   // uptime of the snapshot it was asked for after
    double seen_at;    // the same of what has come
    char refused[256]; // a stranger's: why there is nothing; "" = not
};

// As a row of VIEWS.
extern const struct Binding VIEW_FLAME_KEYS[];
void ViewFlame_open(struct Screen *screen, uint64_t function);
void ViewFlame_want(struct Screen *screen);
void ViewFlame_show(struct Screen *screen, const struct Status *status);
bool ViewFlame_press(struct Screen *screen, int request, uint32_t key);
bool ViewFlame_find(struct Screen *screen, int step, bool here);
void ViewFlame_keep(struct Screen *screen);
void ViewFlame_back(struct Screen *screen);
uint64_t ViewFlame_function(const struct Screen *screen);
int ViewFlame_json(const struct Screen *screen, struct Bytes *out);

// PERIOD_SINCE begins now; where the view is open it shows that.
void ViewFlame_reset(struct Screen *screen);
// What came; the table is the view's.
void ViewFlame_take(struct FlameView *view, struct FlameTable *table);
void ViewFlame_refuse(struct FlameView *view, const char *why);
void ViewFlame_release(struct FlameView *view);

#endif
