// SPDX-License-Identifier: MIT
// Counts the traced process's children that run Python and do not serve. The
// count shows the user of a prefork server that the work happens in other
// processes. The count is made from /proc every few seconds. updates.c calls
// Children_update on the viewer's thread.
#ifndef OCULAR_TUI_MODEL_CHILDREN_H
#define OCULAR_TUI_MODEL_CHILDREN_H

#include <sys/types.h>

struct Children {
    double checked_at; // Feed_now() of the newest count; 0: no count yet
    unsigned untraced; // number of these children at the newest count
};

// Counts again if the newest count is a few seconds old. `pid` is the traced
// process's number in the viewer's pid namespace. If /proc hides processes, the
// count is 0.
void Children_update(struct Children *children, pid_t pid, double now);

#endif
