// SPDX-License-Identifier: MIT
// Receives what the process or the recording has sent: snapshots go to the
// model, stacks to the flame view, answers to the bottom line. Called by the
// terminal's loop and by the batch, on the viewer's thread.
#ifndef OCULAR_TUI_APP_UPDATES_H
#define OCULAR_TUI_APP_UPDATES_H

#include "tui/views/ui.h"

// Reads and decodes messages, and shows answers. Updates_poll does this too; a
// separate call allows keys to be handled before the model takes the snapshot.
void Updates_receive(struct Ui *ui);
// Receives messages, and passes new data to the views. Returns the number of
// snapshots taken (0 or 1), or -ENOMEM.
int Updates_poll(struct Ui *ui);
// Shows an answer of the process.
void Updates_answer(struct Ui *ui, const struct Answer *answer);

#endif
