// SPDX-License-Identifier: MIT
// Receives messages from the process, or from a recording. Passes snapshots to
// the model and stacks to the flame view, and shows answers on the bottom line.
// live.c and batch.c call these functions on the viewer's thread.
#pragma once

#include "tui/views/ui.h"

// Reads and decodes messages, and shows answers. Updates_poll also calls
// Updates_receive. live.c calls Updates_receive first, so that it can handle
// keys before the model takes the snapshot.
void Updates_receive(struct Ui *ui);
// Receives messages, and passes new data to the views. Returns the number of
// snapshots that the model took (0 or 1), or -ENOMEM.
int Updates_poll(struct Ui *ui);
// Shows an answer of the process on the bottom line.
void Updates_answer(struct Ui *ui, const struct Answer *answer);
