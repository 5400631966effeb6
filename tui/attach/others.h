// SPDX-License-Identifier: MIT
// The user's Python processes, and what attaching to each would take. A process
// without Python is read once. Called by the chooser, on the main thread.
#ifndef OCULAR_TUI_ATTACH_OTHERS_H
#define OCULAR_TUI_ATTACH_OTHERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Other {
    pid_t pid;
    uid_t uid;
    double age_s; // since it was forked
    char command[256];
    char takes[64]; // "3.13.0: Enter attaches"
    char why[512];  // why it cannot be attached to; "": it may be
};

struct NoPython; // a process that is not listed

struct Others {
    struct Other *items; // owned, as the next
    struct NoPython *rest;
    size_t count;
    size_t rest_count;
};

// Reads the list again. `package`: as in struct AttachWish. 0, or -errno: the
// list is as it was.
int Others_refresh(struct Others *others, const char *package);
void Others_release(struct Others *others);

#endif
