// SPDX-License-Identifier: MIT
// What the screen says beside the model: filled by the viewer, drawn by views.
#ifndef OCULAR_TUI_VIEWS_STATUS_H
#define OCULAR_TUI_VIEWS_STATUS_H

#include "tui/views/display.h"

#include <stdbool.h>

#define MESSAGE_MAX 1024

struct Status {
    const char *version;
    bool paused;
    bool ended;
    double replay;   // of a recording: how fast, 1 = as recorded; 0 = live
    double rate_s;   // seconds between snapshots
    double silent_s; // since the process was last heard of, 0 = just now
    unsigned untraced_children; // Python processes that do not serve
    struct Display display;
    const char *notice;       // why there are no numbers yet, or NULL
    const char *message;      // on the bottom line, NULL = the keys
    int path_at, path_length; // of a file, in the message; 0 = none
    bool alert;               // the message is about a failure
    const char *prompt; // a question, with what is typed: before the message
    const char *typed;
};

// What a view says before the first snapshot; the notice is a stranger's.
static inline const char *Status_waiting(const struct Status *status)
{
    return status->notice ? status->notice : "Waiting for the first numbers…";
}

#endif
