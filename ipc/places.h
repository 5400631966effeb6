// SPDX-License-Identifier: MIT
// struct Places lists the directories in which a process may have its socket.
// The list has the directories that the environments of the process and of the
// caller name, and the usual directories. The caller owns the struct. Any
// thread may call these functions.
#pragma once

#include "ipc/socket.h"

#include <stdbool.h>

struct Places {
    char directories[10][ADDRESS_MAX];
    unsigned count;
};

// Returns true if the environment variable is set and not empty.
static inline bool Places_is_set(const char *variable)
{
    return variable && *variable;
}

// Adds a directory to the list, unless the list is full or already has it. A
// path that is relative or too long is not added.
__attribute__((format(printf, 2, 3))) void Places_add(struct Places *places,
                                                      const char *format, ...);
// Adds the directories that the environment of this process names.
void Places_add_own(struct Places *places);
// Adds the directories that a user's processes usually serve in. `root` is put
// before the path of each directory; "" means this process's own root
// directory.
void Places_add_usual(struct Places *places, const char *root, uid_t uid);
// Adds the directories that the environment of process `pid` named when the
// process was started. `root` is put before the path of each directory.
void Places_add_its(struct Places *places, const char *root, pid_t pid);
