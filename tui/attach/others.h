// SPDX-License-Identifier: MIT
// Lists the user's Python processes, and says for each of them how to attach to
// it. A process that does not run Python is examined only once.
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct Other {
    pid_t pid;
    uid_t uid;
    char command[256];
    char takes[64]; // Text of the row, such as "3.13.0: Enter attaches".
    // The reason why Ocular cannot attach to the process, or "" if it can.
    char why[512];
};

struct NoPython; // A process that runs no Python; the list leaves it out.

struct Others {
    // The processes that run Python. `items` and `rest` are owned.
    struct Other *items;
    struct NoPython *rest;
    size_t count;
    size_t rest_count;
};

// Reads the list again. `package` has the same meaning as in struct
// AttachRequest. Returns 0, or -errno without changing the list.
int Others_refresh(struct Others *others, const char *package);
void Others_release(struct Others *others);
