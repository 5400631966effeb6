// SPDX-License-Identifier: MIT
// A path as the traced process means it: from its root, and from the directory
// that it is in. One thread, no state.
#ifndef OCULAR_TUI_MODEL_PLACE_H
#define OCULAR_TUI_MODEL_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

// A descriptor that names the root of a process (0: ours), or of ours where
// that may not be looked at. -1 and errno.
int Place_root(pid_t pid);
// The path from that root: a relative one stands in the directory that the
// process is in. False: it is too long, or that directory is not known.
bool Place_absolute(char out[PATH_MAX], pid_t pid, const char *file);
// Opens it below the root, whatever links say. `flags` are open(2)'s, and make
// no file. A descriptor, or -errno.
int Place_find(int root, const char *path, int flags);

#endif
