// SPDX-License-Identifier: MIT
// What the screen says beside the model: filled by the viewer, drawn by views.
#ifndef OCULAR_TUI_STATUS_H
#define OCULAR_TUI_STATUS_H

#include "tui/column.h"

#include <stdbool.h>

struct Status {
    const char *version;
    bool paused;
    bool ended;
    double rate_s;   // seconds between snapshots
    double silent_s; // since the process was last heard of, 0 = just now
    struct Look look;
    const char *notice;  // why there are no numbers yet, or NULL
    const char *message; // on the bottom line, NULL = the keys
    bool alert;          // the message is about a failure
    const char *prompt;  // a question, with what is typed: before the message
    const char *typed;
};

#endif
