// SPDX-License-Identifier: MIT
// Resolves paths as the traced process does: from its root and its working
// directory. Called by source.c and export_file.c. One thread, no state.
#ifndef OCULAR_TUI_MODEL_PLACE_H
#define OCULAR_TUI_MODEL_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

// Returns a descriptor of the root directory of process `pid` (0: this
// process). Returns a descriptor of our own root if the root of `pid` may not
// be opened, or -1 with errno.
int Place_root(pid_t pid);
// Writes the path relative to that root. A relative path is appended to the
// process's working directory. Returns false if the path is too long or the
// directory is not known.
bool Place_absolute(char out[PATH_MAX], pid_t pid, const char *file);
// Opens the path below `root`. No symbolic link can lead outside. `flags` are
// those of open(2) without O_CREAT. Returns a descriptor or -errno.
int Place_find(int root, const char *path, int flags);

#endif
