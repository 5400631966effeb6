// SPDX-License-Identifier: MIT
// The data of a frame beside the model. frame.c fills it, views draw it.
#ifndef OCULAR_TUI_VIEWS_STATUS_H
#define OCULAR_TUI_VIEWS_STATUS_H

#include "tui/views/display.h"

#include <stdbool.h>

#define MESSAGE_MAX 1024

struct Status {
    const char *version;
    bool paused;
    bool ended;
    double replay;   // speed of a recording, 1: as recorded; 0: live
    double rate_s;   // seconds between snapshots
    double silent_s; // seconds since the process sent anything; 0: it is not
                     // silent
    unsigned untraced_children; // Python children that do not serve
    struct Display display;
    const char *notice;  // a stranger's: why there are no numbers yet, or NULL
    const char *message; // on the bottom line; NULL: the keys
    int path_at, path_length; // bytes of a path in the message; 0: none
    bool alert;               // the message is about a failure
    const char *prompt;       // a question, in place of the message; NULL: none
    const char *typed;
};

// Returns what a view says before the first snapshot.
static inline const char *Status_waiting(const struct Status *status)
{
    return status->notice ? status->notice : "Waiting for the first numbers…";
}

#endif
