// SPDX-License-Identifier: MIT
// Counts Python children of the traced process that do not serve. The count
// shows the user where the work of a prefork server happens. Reads /proc every
// few seconds. Called by updates.c, on the viewer's thread.
#ifndef OCULAR_TUI_MODEL_CHILDREN_H
#define OCULAR_TUI_MODEL_CHILDREN_H

#include <sys/types.h>

struct Children {
    double checked_at; // Feed_now() of the newest count; 0: none yet
    unsigned untraced; // number of children that did not serve at that time
};

// Counts again if the newest count is some seconds old. `pid` is the number of
// the traced process as this viewer sees it. The count is 0 if /proc hides
// processes.
void Children_update(struct Children *children, pid_t pid, double now);

#endif
