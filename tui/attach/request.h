// SPDX-License-Identifier: MIT
// Asks a process to run a script between two of its instructions. Depending on
// the version, this uses PEP 768 (door.h) or a pending call (pending.h). Called
// by attach.c, on the main thread.
#ifndef OCULAR_TUI_ATTACH_REQUEST_H
#define OCULAR_TUI_ATTACH_REQUEST_H

#include "tui/attach/interpreter.h"

#include <stdbool.h>
#include <stddef.h>

// `script` is a path as the process sees it. Returns 0, -EINPROGRESS if the
// interpreter is not ready (readiness.h) or the process has run exec, or
// another -errno; `why` has the reason. After an error some threads may have
// been asked: Request_withdraw undoes that.
int Request_ask(const struct Interpreter *interpreter, const char *script,
                bool all, char *why, size_t why_size);
// Starts a thread for the script in a process whose threads sleep (sleeper.h).
// Returns 0, or -errno if no thread sleeps in a suitable call.
int Request_wake(const struct Interpreter *interpreter, const char *script);
// Withdraws a request that was not carried out yet. Returns 0 or -errno.
int Request_withdraw(const struct Interpreter *interpreter);
// Checks that the interpreter is ready. If `filters` says that there are
// seccomp filters, also checks that none would kill the process for a system
// call of Ocular. Returns 0, -EINPROGRESS if the interpreter is not ready, or
// another -errno; `why` has the reason. Stops the process for a moment.
int Request_check(const struct Interpreter *interpreter, bool filters,
                  char *why, size_t why_size);

#endif
