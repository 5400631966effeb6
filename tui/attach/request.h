// SPDX-License-Identifier: MIT
// Asks a process to run a script between two of its instructions, by the way
// that its interpreter has: the door (door.h) or a pending call (pending.h).
// Called by attach.c, on the main thread.
#ifndef OCULAR_TUI_ATTACH_REQUEST_H
#define OCULAR_TUI_ATTACH_REQUEST_H

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// `script` names a file as the process sees it. 0, -EINPROGRESS: its
// interpreter is not ready (readiness.h) or another one now, or -errno, with
// `why`; then Request_withdraw takes back the requests to some threads.
int Request_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size);
// For a process whose threads sleep (sleeper.h). 0, or -errno: none does so.
int Request_wake(const struct Interpreter *interpreter, const char *script);
// Takes back a request that was not carried out yet: 0, or -errno.
int Request_withdraw(const struct Interpreter *interpreter);
// Is its interpreter ready, and would no seccomp filter (`filters`: it has
// some) kill it for what we do there? 0, -EINPROGRESS: not now, or -errno;
// `why` says so. It is stopped for a moment.
int Request_check(const struct Interpreter *interpreter, bool filters,
                  char *why, size_t why_size);

#endif
