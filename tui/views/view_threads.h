// SPDX-License-Identifier: MIT
// The threads view shows the share of a core that each thread uses, and the
// thread's functions. If the user chooses a thread, the main screen shows the
// shares of this thread.
#pragma once

#include "ipc/snapshot.h"
#include "tui/views/view.h"

// Goes to the main screen, which then shows the shares of `thread`, or of all
// threads if `thread` is NULL. A message says which numbers have changed.
void ViewThreads_choose(struct Ui *ui, const struct Thread *thread);

extern const struct View THREADS_VIEW;
