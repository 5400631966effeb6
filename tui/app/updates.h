// SPDX-License-Identifier: MIT
// Takes in what the process or the recording has sent: snapshots go to the
// model, stacks to the flame view, answers to the bottom line. Called by the
// terminal's loop and by the batch, on the viewer's thread.
#ifndef OCULAR_TUI_APP_UPDATES_H
#define OCULAR_TUI_APP_UPDATES_H

#include "tui/views/ui.h"

// Reads and decodes what has arrived, and shows answers. Updates_poll does this
// too; called alone it lets keys in before the model takes the snapshot.
void Updates_receive(struct Ui *ui);
// Receives, and gives the views what has come. The number of snapshots taken (0
// or 1), or -ENOMEM.
int Updates_poll(struct Ui *ui);
// Shows an answer of the process.
void Updates_answer(struct Ui *ui, const struct Answer *answer);

#endif
