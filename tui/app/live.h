// SPDX-License-Identifier: MIT
// The viewer on a terminal: waits for keys, signals and snapshots, and draws.
// Called by watch.c, on the main thread.
#ifndef OCULAR_TUI_APP_LIVE_H
#define OCULAR_TUI_APP_LIVE_H

#include "tui/screen/terminal.h"
#include "tui/views/ui.h"

// Until the user or a signal quits, or `frames` snapshots were shown (0:
// without end). 0 or -errno.
int Live_run(struct Ui *ui, struct Terminal *terminal, long frames);

#endif
