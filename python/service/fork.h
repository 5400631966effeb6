// SPDX-License-Identifier: MIT
// Our threads and locks at a fork.
//
// Through Python: CPython counts the process's threads and warns if it finds
// more than one. If the program has but one thread, ours are ended before the
// fork and started again after it, from a pending call, once CPython has
// counted. If it has several, CPython warns anyway, and ours run on.
// Past Python, in C: our locks are held across the fork, and none of our
// threads has the interpreter's lock, or waits for it. The child's hooks stop
// at once, and it frees the session later, when it needs that; if the parent
// serves, the child starts its own (child_starter.h). Interpreter's lock held.
#ifndef OCULAR_PYTHON_SERVICE_FORK_H
#define OCULAR_PYTHON_SERVICE_FORK_H

#include "python/service/service.h"

// Registers with the C library; once a process. 0 or -errno.
int Fork_init(void);
// For os.register_at_fork. The first releases the lock while it joins.
void Fork_before(struct Service *service);
void Fork_after_in_parent(struct Service *service);
void Fork_after_in_child(struct Service *service);
// Before the session is used or ended: has our threads running again, waits for
// another thread's Fork_before, and in the child of a fork past Python lets the
// session go. May release the lock.
void Fork_settle(struct Service *service);

#endif
