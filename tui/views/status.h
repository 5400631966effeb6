// SPDX-License-Identifier: MIT
// The data of a frame that is not in the model. frame.c fills it in, and views
// draw it.
#ifndef OCULAR_TUI_VIEWS_STATUS_H
#define OCULAR_TUI_VIEWS_STATUS_H

#include "tui/views/display.h"

#include <stdbool.h>

#define MESSAGE_MAX 1024

struct Status {
    const char *version;
    bool paused;
    bool ended;
    double replay; // speed of a replay, 1: as recorded; 0: live
    double rate_s; // seconds between snapshots
    // seconds since the process last sent anything; 0: not silent
    double silent_s;
    unsigned untraced_children; // number of Python children that do not serve
    bool past;                  // this is the recording of a run
    // of that, in seconds since tracing began: the recording, and the stretch
    // that is shown
    double first_s, all_s, from_s, to_s;
    struct Display display;
    // the process's reason for not sending numbers yet, not trusted; or NULL
    const char *notice;
    const char *message; // message on the bottom line; NULL: the keys are shown
    // position and bytes of a path in the message; 0: no path
    int path_at, path_length;
    bool alert;         // the message reports a failure
    const char *prompt; // a question instead of the message; NULL: none
    const char *typed;
};

// Returns the text that a view shows before the first snapshot.
static inline const char *Status_waiting(const struct Status *status)
{
    return status->notice ? status->notice : "Waiting for the first numbers…";
}

#endif
