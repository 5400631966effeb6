// SPDX-License-Identifier: MIT
// Finds paths as the traced process means them: from its root and its working
// directory. Called by source.c and export_file.c. One thread, no state.
#ifndef OCULAR_TUI_MODEL_PLACE_H
#define OCULAR_TUI_MODEL_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

// Returns a descriptor of the root of a process (0: ours), or of ours if we
// may not open that. -1 and errno.
int Place_root(pid_t pid);
// Writes the path from that root; a relative one begins at the process's
// working directory. False: it is too long, or that directory is not known.
bool Place_absolute(char out[PATH_MAX], pid_t pid, const char *file);
// Opens the path, never outside of the root, whatever links say. `flags` are
// those of open(2), without O_CREAT. Returns a descriptor, or -errno.
int Place_find(int root, const char *path, int flags);

#endif
