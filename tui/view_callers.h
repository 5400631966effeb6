// SPDX-License-Identifier: MIT
// Callers and callees of one function, as a tree with shares. Any function in
// it can be unfolded, or become the one in the middle. One thread.
#ifndef OCULAR_TUI_VIEW_CALLERS_H
#define OCULAR_TUI_VIEW_CALLERS_H

#include "tui/keymap.h"
#include "tui/list.h"
#include "tui/status.h"
#include "tui/tree.h"

struct Screen;

#define CALLERS_WAY 32 // functions that lead back

struct CallersView {
    struct Tree tree;
    struct List list;
    uint64_t selected;         // key of the branch
    uint64_t way[CALLERS_WAY]; // that were in the middle before
    int depth;
};

void ViewCallers_release(struct CallersView *view);

// As a row of VIEWS.
extern const struct Binding VIEW_CALLERS_KEYS[];
void ViewCallers_open(struct Screen *screen, uint64_t function);
void ViewCallers_show(struct Screen *screen, const struct Status *status);
bool ViewCallers_press(struct Screen *screen, int request, uint32_t key);
bool ViewCallers_find(struct Screen *screen, int step, bool here);
uint64_t ViewCallers_function(const struct Screen *screen);

#endif
