// SPDX-License-Identifier: MIT
// Callers and callees of one function, as a tree with shares. Any function in
// it can be unfolded, or become the one in the middle. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_CALLERS_H
#define OCULAR_TUI_VIEWS_VIEW_CALLERS_H

#include "tui/model/tree.h"
#include "tui/model/window.h"
#include "tui/screen/keymap.h"
#include "tui/screen/list.h"
#include "tui/views/status.h"

struct Screen;

#define CALLERS_WAY 32 // functions that lead back

struct CallersView {
    struct Tree tree;
    struct List list;
    uint64_t selected;         // key of the branch
    uint64_t way[CALLERS_WAY]; // that were in the middle before
    int depth;
    enum Period period;
    struct Calls calls; // of the period, if it is not PERIOD_LATELY,
    bool own;           // and if they are known
    struct Window window;
};

void ViewCallers_release(struct CallersView *view);
// PERIOD_SINCE begins now, if the view is open, and it shows that.
void ViewCallers_reset(struct Screen *screen);

// As a row of VIEWS.
extern const struct Binding VIEW_CALLERS_KEYS[];
void ViewCallers_open(struct Screen *screen, uint64_t function);
// The stacks that windows are counted of come with this.
void ViewCallers_want(struct Screen *screen);
void ViewCallers_show(struct Screen *screen, const struct Status *status);
bool ViewCallers_press(struct Screen *screen, int request, uint32_t key);
bool ViewCallers_find(struct Screen *screen, int step, bool here);
uint64_t ViewCallers_function(const struct Screen *screen);

#endif
