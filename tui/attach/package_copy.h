// SPDX-License-Identifier: MIT
// Copies Ocular's package for a process that cannot read the package, for
// example because the process is in a container or a chroot. The copy lies in a
// folder of the process's /tmp or /dev/shm, and belongs to the process's user.
// The copy stays until Ocular detaches from the process.
#pragma once

#include "tui/attach/interpreter.h"

#include <limits.h>
#include <stddef.h>

// Copies the package from `source`, which is a path below this program's root
// directory. Returns 0 and sets `folder` to the copy's path below the process's
// root directory. After an error, returns -errno with the reason in `why`.
int PackageCopy_make(const struct Interpreter *interpreter, const char *source,
                     char folder[PATH_MAX], char *why, size_t why_size);
// Removes the copies for process `pid`, and the copies for processes that have
// ended.
void PackageCopy_remove(pid_t pid);
