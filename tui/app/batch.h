// SPDX-License-Identifier: MIT
// Runs ocular-top without a terminal. The batch prints frames as text, or
// snapshots as JSON, on stdout.
#pragma once

#include "tui/app/options.h"
#include "tui/views/ui.h"

// Returns the width of stdout's terminal, or `otherwise` if stdout is no
// terminal or a very narrow one.
int Batch_width(int otherwise);
// Prints until all frames are written or the traced program ends. Returns 0, or
// -errno with the reason in `why`. The end of the traced program after the
// first frame is no error.
int Batch_run(struct Ui *ui, const struct Options *options, char *why,
              size_t why_size);
