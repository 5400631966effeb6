// SPDX-License-Identifier: MIT
// The directory that holds the sockets: chosen, made, and refused unless it is
// ours alone. Used by address.c only; any thread, no state.
#ifndef OCULAR_IPC_DIRECTORY_H
#define OCULAR_IPC_DIRECTORY_H

#include <stddef.h>

// The directory that this process serves from: $OCULAR_DIR, else
// $XDG_RUNTIME_DIR/ocular if that is ours, else /tmp/ocular-UID. `why` has
// words for the error that it returns.
int Directory_choose(char *path, size_t size, char *why, size_t why_size);
// Makes it 0700 if it is missing, then checks it: 0, or -ELOOP (a symlink),
// -ENOTDIR, -EPERM (another's, or open to others), or mkdir's error.
int Directory_make(const char *path, char *why, size_t why_size);

#endif
