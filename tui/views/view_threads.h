// SPDX-License-Identifier: MIT
// The threads: what each takes of a core, and which functions it spends that
// in. One can be chosen, and the main screen is about that one then. One
// thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_THREADS_H
#define OCULAR_TUI_VIEWS_VIEW_THREADS_H

#include "tui/model/thread_key.h"
#include "tui/screen/keymap.h"
#include "tui/screen/list.h"
#include "tui/views/status.h"

struct Screen;
struct Thread;

struct ThreadsView {
    struct List list; // row 0 is all threads together
    bool pinned;      // the selection stays with a thread, else at the top
    struct ThreadKey pin;
    int sort; // a column of view_threads.c
    bool invert;
};

// Leads to the main screen, which is about that thread alone now, or about all
// (NULL), and says what that means for the numbers.
void ViewThreads_choose(struct Screen *screen, const struct Thread *thread);

// As a row of VIEWS.
extern const struct Binding VIEW_THREADS_KEYS[];
void ViewThreads_show(struct Screen *screen, const struct Status *status);
bool ViewThreads_press(struct Screen *screen, int request, uint32_t key);
bool ViewThreads_find(struct Screen *screen, int step, bool here);

#endif
