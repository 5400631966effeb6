// SPDX-License-Identifier: MIT
// Resolves a path as the traced process would, from the process's root and
// working directory. The functions keep no state.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

// Returns a descriptor of the root directory of process `pid` (0 = this
// process). If the root of `pid` may not be opened, returns a descriptor of the
// viewer's root. Returns -1 with errno if the system call fails.
int Place_root(pid_t pid);
// Writes the path of `file` below the root of process `pid`. A relative path is
// appended to the process's working directory. Returns false if the path is too
// long or the working directory is not known.
bool Place_absolute(char out[PATH_MAX], pid_t pid, const char *file);
// Opens a path below the directory `root`. A symbolic link cannot lead outside
// of `root`. `flags` are flags of open(2) without O_CREAT. Returns a descriptor
// or -errno.
int Place_find(int root, const char *path, int flags);
// Opens a folder below the root of process `pid`, for example "dev/shm". Does
// not follow links, because the process may have made them. Returns an O_PATH
// descriptor or -errno.
int Place_folder(pid_t pid, const char *path);
// Opens a file as process `pid` sees it. Returns a descriptor or -errno.
int Place_open(pid_t pid, const char *path, int flags);
