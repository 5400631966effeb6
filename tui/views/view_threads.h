// SPDX-License-Identifier: MIT
// The threads view: what each thread takes of a core, and in which functions.
// The user can choose one, and the main screen shows that one alone. One
// thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_THREADS_H
#define OCULAR_TUI_VIEWS_VIEW_THREADS_H

#include "ipc/snapshot.h"
#include "tui/views/view.h"

// Goes to the main screen, which then shows that thread alone, or all (NULL),
// and says what that means for the numbers.
void ViewThreads_choose(struct Ui *ui, const struct Thread *thread);

extern const struct View THREADS_VIEW;

#endif
