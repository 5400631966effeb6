// SPDX-License-Identifier: MIT
// A copy of Ocular for a process that cannot see ours, in a container or a
// chroot, say: in a folder of its own temporary files, as its user, until it is
// let go. Called by attach.c, on the main thread.
#ifndef OCULAR_TUI_ATTACH_LEND_H
#define OCULAR_TUI_ATTACH_LEND_H

#include "tui/attach/interpreter.h"

#include <limits.h>
#include <stddef.h>

// Copies the package from `source`, as we see it. 0 and `folder`, as the
// process sees it, or -errno with `why`.
int Lend_package(const struct Interpreter *interpreter, const char *source,
                 char folder[PATH_MAX], char *why, size_t why_size);
// Removes the copies for that process, and for processes that have ended.
void Lend_take_back(pid_t pid);

#endif
