// SPDX-License-Identifier: MIT
// struct Status has data for a frame that is not in the model, for example the
// message on the bottom line. frame.c fills struct Status, and views draw it.
#pragma once

#include "tui/views/display.h"

#include <stdbool.h>

#define MESSAGE_MAX 1024

struct Status {
    const char *version;
    bool paused;
    bool ended;
    double replay; // Speed of a replay (1 = as recorded, 0 = no replay).
    double rate_s; // Seconds between snapshots.
    // Seconds since the newest message of the process (0 = not silent).
    double silent_s;
    unsigned workers; // Number of workers in the merged snapshot.
    // Number of workers that the merged snapshot lacks, or of which it has only
    // the counts.
    unsigned unmerged;
    unsigned untraced_children; // Number of Python children that do not serve.
    bool past;                  // The viewer shows the recording of a run.
    // Times in seconds since tracing began. The recording covers the time from
    // first_s to all_s, and the shown part is from from_s to to_s.
    double first_s, all_s, from_s, to_s;
    struct Display display;
    // The process's text about why no snapshot has come yet, or NULL. The text
    // may contain control characters.
    const char *notice;
    // Message on the bottom line (NULL = the keys are shown).
    const char *message;
    // Position and length in bytes of a path in `message` (0 = no path).
    int path_at, path_length;
    bool alert;         // The message reports a failure.
    const char *prompt; // A question in place of the message, or NULL.
    const char *typed;
};

// Returns the text that a view shows before the first snapshot.
static inline const char *Status_waiting(const struct Status *status)
{
    return status->notice ? status->notice : "Waiting for the first numbers…";
}
