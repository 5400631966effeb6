// SPDX-License-Identifier: MIT
// What the view in front shows, as JSON: for E and for --json. Called by
// question.c and batch.c, on the viewer's thread.
#ifndef OCULAR_TUI_APP_JSON_OUTPUT_H
#define OCULAR_TUI_APP_JSON_OUTPUT_H

#include "tui/views/ui.h"

// Appends what is on the screen (sorted, filtered). 0, -ENODATA: there is
// nothing yet, or -ENOMEM.
int JsonOutput_write(const struct Ui *ui, struct Bytes *out);
// A sentence about its counts and shares for the message that it is saved,
// where they are not those of the whole run and of all threads; else "".
const char *JsonOutput_note(const struct Ui *ui);

#endif
