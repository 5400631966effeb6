// SPDX-License-Identifier: MIT
// Seccomp filters that would kill a program for a system call that Ocular makes
// in it: found before it makes one. Called by attach.c, on the main thread, and
// by request.c, in a process of its own.
#ifndef OCULAR_TUI_ATTACH_SECCOMP_H
#define OCULAR_TUI_ATTACH_SECCOMP_H

#include "tui/attach/stop.h"

enum FilterSight {
    FILTER_NONE,
    FILTER_READABLE, // root, without a filter of our own
    FILTER_SHARED,   // as many as we have: those of the same container, say
    FILTER_HIDDEN,
};

enum FilterSight Seccomp_look(pid_t pid);
// Those of the stopped threads, which this thread traces. 0, or -EACCES with
// `why`: one would kill the process, or cannot be read after all.
int Seccomp_check(const struct Stop *stop, pid_t pid, char *why,
                  size_t why_size);
// Those that we have ourselves: a child of ours makes the system calls. As
// Seccomp_check.
int Seccomp_try(pid_t pid, char *why, size_t why_size);

#endif
