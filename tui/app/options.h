// SPDX-License-Identifier: MIT
// The command line of ocular-top. Called by main, once.
#ifndef OCULAR_TUI_APP_OPTIONS_H
#define OCULAR_TUI_APP_OPTIONS_H

#include "tui/model/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct Options {
    pid_t pid; // 0: the user chooses
    double delay_s;
    double timeout_s; // of the batch: for the first snapshot; for each further
                      // one beside delay_s
    enum ColumnId sort;
    const char *filter; // or NULL
    long frames;        // snapshots; 0: without end
    bool batch;
    bool json;
    const char *keys;   // or NULL
    const char *record; // file, or NULL
    const char *replay; // file, or NULL
    int width;          // cells; 0: the terminal's
    int height;
    bool mono;
    bool ascii;
    bool no_mouse;
    bool attach;         // a process that does not serve: have it serve
    bool attach_only;    // and no more than that
    bool detach;         // end that
    bool list;           // print which processes serve
    const char *package; // folder with an ocular/ for --attach, or NULL
    bool help;
    bool version;
};

// 0, or -EINVAL with `why` in words.
int Options_parse(struct Options *options, int argc, char **argv, char *why,
                  size_t why_size);
extern const char OPTIONS_USAGE[];

#endif
