// SPDX-License-Identifier: MIT
// Parses the command line of ocular-top. main() calls Options_parse once.
#pragma once

#include "tui/model/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct Options {
    pid_t pid; // the process of --pid; 0 if it is not given
    double delay_s;
    // Seconds for which batch mode waits for the first snapshot. For each later
    // snapshot, delay_s is added.
    double timeout_s;
    enum ColumnId sort;
    const char *filter; // text of --filter, or NULL
    bool own;           // Show only the program's own code.
    long frames;        // number of snapshots; 0 means no limit
    bool once;
    bool batch;
    bool json;
    const char *keys;   // keys of --keys, or NULL
    const char *record; // file that --record writes, or NULL
    const char *replay; // a file that --record has written, or the recording of
                        // a run; NULL if there is none
    const char *before; // recording of an earlier run, with which `replay` is
                        // compared, or NULL
    bool diff;          // print the differences of two runs
    double fail_above;  // slowdown from which on --diff fails; NaN if it never
                        // fails
    // True if `replay` was given without the option --replay.
    bool past;
    int width; // width in cells; 0 means the width of the terminal
    int height;
    bool mono;
    bool ascii;
    bool no_mouse;
    bool attach;         // Attach to a process that serves no viewers.
    bool attach_only;    // Attach to the process of --pid, and exit.
    bool detach;         // Undo --attach-only.
    bool alone;          // Show the process of --pid without its workers.
    bool list;           // Print the processes that serve viewers.
    const char *package; // folder that contains an ocular/ for --attach, or
                         // NULL
    bool help;
    bool version;
};

// Returns 0, or -EINVAL with the reason in `why`.
int Options_parse(struct Options *options, int argc, char **argv, char *why,
                  size_t why_size);
extern const char OPTIONS_USAGE[];
