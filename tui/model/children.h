// SPDX-License-Identifier: MIT
// Python children of the traced process that do not serve, so that the user is
// not left to wonder where a prefork server's work has gone. Reads /proc, every
// few seconds; the viewer's thread.
#ifndef OCULAR_TUI_MODEL_CHILDREN_H
#define OCULAR_TUI_MODEL_CHILDREN_H

#include <sys/types.h>

struct Children {
    double checked_at; // Feed_now() of the newest look; 0: none yet
    unsigned untraced; // that did not serve then
};

// Looks again where the newest look is some seconds old. `pid` is the traced
// process's as this viewer sees it. Finds nothing where /proc hides them.
void Children_update(struct Children *children, pid_t pid, double now);

#endif
