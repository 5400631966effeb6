// SPDX-License-Identifier: MIT
// Watches one process, or plays one recording, from its first snapshot to the
// end. Called by main, on its thread.
#ifndef OCULAR_TUI_APP_WATCH_H
#define OCULAR_TUI_APP_WATCH_H

#include "ipc/address.h"
#include "tui/app/options.h"
#include "tui/screen/terminal.h"

#define WATCH_WHY 1024

// On the terminal, NULL: as the batch. 0, or -errno with `why` in words;
// *leave: the user wants the list of processes.
int Watch_run(const struct Options *options, const struct Served *served,
              struct Terminal *terminal, bool *leave, char why[WATCH_WHY]);

#endif
