// SPDX-License-Identifier: MIT
// Finds seccomp filters that would kill a program because of a system call of
// Ocular. The filters are checked before Ocular makes any system call in the
// program. attach.c calls these functions on the main thread, and request.c
// calls them in a child process.
#pragma once

#include "tui/attach/stop.h"

enum FilterSight {
    FILTER_NONE,
    // The filters can be read, because this program is root and has no filter.
    FILTER_READABLE,
    // This program has as many filters as the process, for example because both
    // are in one container.
    FILTER_SHARED,
    FILTER_HIDDEN,
};

enum FilterSight Seccomp_look(pid_t pid);
// Checks the filters of the process's stopped threads. The calling thread must
// trace these threads (ptrace). Returns 0, or -EACCES with the reason in `why`
// if a filter kills the process or cannot be read.
int Seccomp_check(const struct Stop *stop, pid_t pid, char *why,
                  size_t why_size);
// Checks the filters of this program itself, by a child process that makes
// Ocular's system calls. Returns what Seccomp_check returns.
int Seccomp_try(pid_t pid, char *why, size_t why_size);
