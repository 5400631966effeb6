// SPDX-License-Identifier: MIT
// Counts Python children of the traced process that do not serve, so that the
// user knows where a prefork server's work has gone. Reads /proc every few
// seconds. Called by updates.c, on the viewer's thread.
#ifndef OCULAR_TUI_MODEL_CHILDREN_H
#define OCULAR_TUI_MODEL_CHILDREN_H

#include <sys/types.h>

struct Children {
    double checked_at; // Feed_now() of the newest count; 0: none yet
    unsigned untraced; // children that did not serve then
};

// Counts again if the newest count is some seconds old. `pid` is the traced
// process's, as this viewer sees it. If /proc hides processes, the count is 0.
void Children_update(struct Children *children, pid_t pid, double now);

#endif
