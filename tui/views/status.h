// SPDX-License-Identifier: MIT
// struct Status contains data for the header of a frame that are not in the
// model. frame.c fills struct Status, and views draw its contents.
#pragma once

#include "tui/views/display.h"

#include <stdbool.h>

struct Status {
    const char *version;
    bool paused;
    bool ended;
    double replay; // Speed of a replay (1 = as recorded, 0 = no replay).
    double rate_s; // Seconds between snapshots.
    // Seconds since the newest message of the process (0 = not silent).
    double silent_s;
    unsigned workers;  // Number of workers in the merged snapshot.
    bool master_ended; // True if the master of the workers has ended.
    // Number of workers that are missing in the merged snapshot, or of which it
    // has only the counts.
    unsigned unmerged;
    // Number of Python children that do not serve viewers.
    unsigned untraced_children;
    bool past; // True if the viewer shows the recording of a run.
    // Times in seconds since tracing began. The recording covers the time from
    // first_s to all_s. The part from from_s to to_s is shown.
    double first_s, all_s, from_s, to_s;
    struct Display display;
    // Text of the process that says why no snapshot has come yet, or NULL. The
    // text may contain control characters.
    const char *notice;
};

// Returns the text that a view shows before the first snapshot.
static inline const char *Status_waiting(const struct Status *status)
{
    return status->notice ? status->notice : "Waiting for the first numbers…";
}
