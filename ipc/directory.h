// SPDX-License-Identifier: MIT
// Chooses, makes and checks the directory that holds the sockets. The directory
// of the sockets must belong to the process's user, and other users must not be
// able to enter it. Only address.c calls these functions, on any thread. The
// functions keep no state.
#pragma once

#include <stddef.h>

// Sets `path` to the directory for this process's socket: $OCULAR_DIR, or
// $XDG_RUNTIME_DIR/ocular if the user owns $XDG_RUNTIME_DIR, or
// /tmp/ocular-UID. Returns 0 or -errno. After an error `why` has an
// explanation.
int Directory_choose(char *path, size_t size, char *why, size_t why_size);
// Makes the directory with mode 0700 if it is missing, and then checks who owns
// it and who can enter it. Returns 0, -ELOOP for a symlink, -ENOTDIR, -EPERM if
// another user owns the directory or can enter it, or the error of mkdir().
int Directory_make(const char *path, char *why, size_t why_size);
