// SPDX-License-Identifier: MIT
// What happens to us when the process forks: the parent goes on, the child
// neither waits for a lock of ours nor traces any more.
#ifndef OCULAR_PYTHON_FORK_H
#define OCULAR_PYTHON_FORK_H

#include "python/state.h"

// Registers with the C library; once a process. 0 or -errno.
int Fork_init(struct State *state);
// In the child of os.fork(), interpreter's lock held: takes the hooks out and
// lets the session go.
void Fork_after_in_child(struct State *state);

#endif
