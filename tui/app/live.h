// SPDX-License-Identifier: MIT
// The viewer's loop on a terminal. The loop waits for keys, signals and
// snapshots, and draws frames.
#pragma once

#include "tui/screen/terminal.h"
#include "tui/views/ui.h"

// Runs until the user or a signal quits, or until `frames` snapshots were
// shown; 0 means no limit. Returns 0 or -errno.
int Live_run(struct Ui *ui, struct Terminal *terminal, long frames);
