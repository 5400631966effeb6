// SPDX-License-Identifier: MIT
// struct Places lists the directories in which a process may serve. These are
// the directories that the process's environment and our environment name, and
// the usual directories. The caller owns struct Places. Any thread may call
// these functions.
#ifndef OCULAR_IPC_PLACES_H
#define OCULAR_IPC_PLACES_H

#include "ipc/socket.h"

#include <stdbool.h>

struct Places {
    char directories[10][ADDRESS_MAX];
    unsigned count;
};

// Returns whether the environment variable is set and not empty.
static inline bool Places_is_set(const char *variable)
{
    return variable && *variable;
}

// Adds a directory, unless the list is full or already contains the directory.
// A path that is too long or relative is not added.
__attribute__((format(printf, 2, 3))) void Places_add(struct Places *places,
                                                      const char *format, ...);
// Adds the directories that our environment names.
void Places_add_own(struct Places *places);
// Adds the usual directories of a user. `root` is put before the paths of these
// directories; "" stands for our own root.
void Places_add_usual(struct Places *places, const char *root, uid_t uid);
// Adds the directories that the environment of process `pid` named when it was
// started. `root` is put before the paths of these directories.
void Places_add_its(struct Places *places, const char *root, pid_t pid);

#endif
