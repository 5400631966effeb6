// SPDX-License-Identifier: MIT
// ocular-top without a terminal: frames as text or snapshots as JSON on stdout.
// Called by watch.c, on the main thread.
#ifndef OCULAR_TUI_APP_BATCH_H
#define OCULAR_TUI_APP_BATCH_H

#include "tui/app/options.h"
#include "tui/views/ui.h"

// Prints until all frames are out or the program ends. 0, or -errno with `why`
// in words; a program that ends after a frame is no error.
int Batch_run(struct Ui *ui, const struct Options *options, char *why,
              size_t why_size);

#endif
