// SPDX-License-Identifier: MIT
// Parses the command line of ocular-top. main() calls Options_parse once.
#ifndef OCULAR_TUI_APP_OPTIONS_H
#define OCULAR_TUI_APP_OPTIONS_H

#include "tui/model/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct Options {
    pid_t pid; // the process of --pid; 0: not given
    double delay_s;
    // Seconds that the batch waits for a snapshot. After the first snapshot
    // delay_s is added.
    double timeout_s;
    enum ColumnId sort;
    const char *filter; // or NULL
    long frames;        // number of snapshots; 0: no limit
    bool once;
    bool batch;
    bool json;
    const char *keys;   // keys to press; or NULL
    const char *record; // file to write; or NULL
    const char *replay; // file that --record has written, or the recording of a
                        // run; or NULL
    const char *before; // recording of an earlier run to compare with; or NULL
    bool diff;          // print how the two runs differ
    double fail_above;  // slowdown at which --diff fails; NaN: never
    // The file `replay` was given without the option --replay.
    bool past;
    int width; // width in cells; 0: the terminal's width
    int height;
    bool mono;
    bool ascii;
    bool no_mouse;
    bool attach;         // attach to a process that does not serve
    bool attach_only;    // attach to the process of --pid and exit
    bool detach;         // undo --attach-only
    bool list;           // print the processes that serve
    const char *package; // folder with an ocular/ for --attach; or NULL
    bool help;
    bool version;
};

// Returns 0, or -EINVAL with the reason in `why`.
int Options_parse(struct Options *options, int argc, char **argv, char *why,
                  size_t why_size);
extern const char OPTIONS_USAGE[];

#endif
