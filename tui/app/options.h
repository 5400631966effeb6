// SPDX-License-Identifier: MIT
// Parses the command line of ocular-top. main() calls Options_parse once.
#pragma once

#include "tui/model/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct Options {
    pid_t pid; // The process of --pid; 0 if it is not given.
    double delay_s;
    // Seconds for which batch mode waits for the first snapshot. For each later
    // snapshot, delay_s is added.
    double timeout_s;
    enum ColumnId sort;
    const char *filter; // Text of --filter, or NULL.
    bool own;           // Show only the program's own code.
    long frames;        // Number of snapshots; 0 means no limit.
    bool once;
    bool batch;
    bool json;
    const char *keys;   // Keys of --keys, or NULL.
    const char *record; // File that --record writes, or NULL.
    // A file that --record has written, or the recording of a run; NULL if
    // there is none.
    const char *replay;
    // Recording of an earlier run, with which `replay` is compared, or NULL.
    const char *before;
    bool diff; // Print the differences of two runs.
    // Slowdown from which on --diff fails; NaN if it never fails.
    double fail_above;
    // True if `replay` was given without the option --replay.
    bool past;
    int width; // Width in cells; 0 means the width of the terminal.
    int height;
    bool mono;
    bool ascii;
    bool no_mouse;
    bool attach;      // Attach to a process that serves no viewers.
    bool attach_only; // Attach to the process of --pid, and exit.
    bool detach;      // Undo --attach-only.
    bool alone;       // Show the process of --pid without its workers.
    bool list;        // Print the processes that serve viewers.
    // Folder that contains an ocular/ for --attach, or NULL.
    const char *package;
    bool help;
    bool version;
};

// Returns 0, or -EINVAL with the reason in `why`.
int Options_parse(struct Options *options, int argc, char **argv, char *why,
                  size_t why_size);
extern const char OPTIONS_USAGE[];
