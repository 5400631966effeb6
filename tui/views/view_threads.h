// SPDX-License-Identifier: MIT
// The threads view: the share of a core that each thread uses, and its
// functions. The user can choose one thread, whose data alone the main screen
// then shows. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_THREADS_H
#define OCULAR_TUI_VIEWS_VIEW_THREADS_H

#include "ipc/snapshot.h"
#include "tui/views/view.h"

// Goes to the main screen and shows the data of `thread`, or of all threads
// (NULL). A message says which numbers change.
void ViewThreads_choose(struct Ui *ui, const struct Thread *thread);

extern const struct View THREADS_VIEW;

#endif
