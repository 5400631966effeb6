// SPDX-License-Identifier: MIT
// Lists the user's Python processes, and says for each process how to attach to
// it. A process without Python is examined only once. The chooser calls these
// functions on the main thread.
#ifndef OCULAR_TUI_ATTACH_OTHERS_H
#define OCULAR_TUI_ATTACH_OTHERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Other {
    pid_t pid;
    uid_t uid;
    double age_s; // seconds since the process was forked
    char command[256];
    char takes[64]; // text of the row, such as "3.13.0: Enter attaches"
    char why[512];  // why the process cannot be attached to; "" if it can
};

struct NoPython; // a process that the list leaves out

struct Others {
    // The processes with Python; `items` and `rest` are owned.
    struct Other *items;
    struct NoPython *rest;
    size_t count;
    size_t rest_count;
};

// Reads the list again. `package` has the same meaning as in struct AttachWish.
// Returns 0, or -errno with the list unchanged.
int Others_refresh(struct Others *others, const char *package);
void Others_release(struct Others *others);

#endif
