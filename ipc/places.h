// SPDX-License-Identifier: MIT
// The directories in which a process may serve: those that its environment and
// ours name, and the usual ones. The caller holds them; any thread.
#ifndef OCULAR_IPC_PLACES_H
#define OCULAR_IPC_PLACES_H

#include "ipc/socket.h"

#include <stdbool.h>

struct Places {
    char directories[10][ADDRESS_MAX];
    unsigned count;
};

// A variable's value that says something.
static inline bool Places_is_set(const char *variable)
{
    return variable && *variable;
}

// Once each, while there is room; what is too long or relative is left out.
__attribute__((format(printf, 2, 3))) void Places_add(struct Places *places,
                                                      const char *format, ...);
void Places_add_own(struct Places *places); // as our environment says
// Below that root, "" for ours.
void Places_add_usual(struct Places *places, const char *root, uid_t uid);
// The directories of the environment that the target was started with.
void Places_add_its(struct Places *places, const char *root, pid_t pid);

#endif
