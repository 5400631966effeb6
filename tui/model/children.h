// SPDX-License-Identifier: MIT
// Lists the children of a process, and counts those that run Python and do not
// serve viewers. The count tells the user of a prefork server that other
// processes do the work. The count is made from /proc every few seconds.
// updates.c, fleet.c and the chooser call these functions on the viewer's
// thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct Children {
    // Time (Feed_now()) of the newest count, or 0 before the first count.
    double checked_at;
    // Number of Python children that did not serve viewers at the newest count.
    unsigned untraced;
};

// Counts the children again if the newest count is a few seconds old. `pid` is
// the traced process's number in the viewer's pid namespace. If /proc hides
// processes, the count is 0.
void Children_update(struct Children *children, pid_t pid, double now);
// Writes the process's children to `children`. Returns their number, at most
// `most`.
size_t Children_list(pid_t pid, pid_t *children, size_t most);
// Returns true if the child does the same work as its parent. A child that does
// the same work is a fork of its parent, or a process of the module
// multiprocessing. All other children of a process run other programs.
bool Children_is_worker(pid_t child, pid_t parent);
