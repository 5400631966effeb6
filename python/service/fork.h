// SPDX-License-Identifier: MIT
// Handles Ocular's threads and locks at a fork. Callers hold the GIL.
//
// At os.fork() CPython counts the process's threads and warns if there are
// several. If the program has one thread, Ocular's threads end before the fork.
// A pending call starts Ocular's threads again after CPython has counted the
// threads. If the program has several threads, CPython warns anyway, and
// Ocular's threads run on. At a fork in C, the forking thread holds Ocular's
// locks, and no thread of Ocular holds the GIL or waits for it. The child's
// hooks stop at once. The child frees the parent's session later. If viewers
// could connect to the parent, the child starts its own session
// (child_starter.h).
#pragma once

#include "python/service/service.h"

// Registers handlers with the C library, once per process. Returns 0 or -errno.
int Fork_init(void);
// Handlers for os.register_at_fork. Fork_before releases the GIL while it joins
// threads.
void Fork_before(struct Service *service);
void Fork_after_in_parent(struct Service *service);
void Fork_after_in_child(struct Service *service);
// Fork_settle must be called before the session is used or ended. Starts
// Ocular's threads again, waits for another thread's Fork_before, and frees the
// parent's session in a child. Fork_settle may release the GIL.
void Fork_settle(struct Service *service);
