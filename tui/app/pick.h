// SPDX-License-Identifier: MIT
// Shows the chooser on a terminal.
#pragma once

#include "tui/app/chooser.h"
#include "tui/screen/terminal.h"

// Lets the user choose a process from the list. Returns an enum ChooserAnswer,
// or -errno.
int Pick_run(struct Chooser *chooser, struct Terminal *terminal, bool ascii);
